import { isFinished } from '@adsweep/shared/scan/scan-status.ts';
import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { ApiError } from '../../http/api-error.ts';
import { inService, type ReadTags } from '../../reference/tags/tag-definitions.ts';
import type { ScanRecord } from '../../scanning/scans/state/scan.ts';
import type { BatchClaims } from './batch-claim-store.ts';
import { findingsOf, matchCombos } from './evaluate-rules.ts';
import { slugsOf } from './evaluation/combos.ts';
import type { PackedEvidence } from './evaluation/rule-job.ts';
import type { GroupOutcome, RuleThreads } from './evaluation/rule-threads.ts';
import { type PackedSources, packEvidence } from './packed-evidence.ts';
import { type Condition, isCombo, type Rule } from './rule.ts';
import { CELL_ERRORS, type CellError, type TestedRule } from './rule-test-in.ts';

/** What rule tests need; `limits` in ms: of CPU for one rule on one scan, and of a whole batch. */
export type RuleTestParts = {
  evidence: PackedSources;
  findScan: (organizationId: string, id: string) => Promise<ScanRecord | null>;
  readTags: ReadTags;
  threads: Pick<RuleThreads, 'run'>;
  claims: BatchClaims;
  limits: { ruleMs: number; batchMs: number };
};

/** What one rule would do to one scan. */
export type TestResult = { matched: boolean; tags: { tag_slug: string; detail: string }[]; elapsed_ms: number };
export type Cell = TestResult & {
  index: number;
  rule_id: string | null;
  scan_id: string;
  error: string | null;
  error_code: CellError | null;
};

const NO_MATCH: TestResult = { matched: false, tags: [], elapsed_ms: 0 };

/** A rule that is tried and not stored. Its id is its place, by which its matches are told apart. */
export function testedRule(tested: TestedRule, at: number, organization_id: string): Rule {
  const { rule_type, config, target = 'page', name = 'Test Rule', tag_slug = 'rule-test' } = tested;
  return { id: String(at), organization_id, name, tag_slug, target, ...({ rule_type, config } as Condition) };
}

/** The result of each rule on a scan, or why there is none. The scan is read once, and nothing of it changes. */
export async function testOnScan(
  parts: RuleTestParts,
  scan: ScanRecord,
  rules: Rule[],
): Promise<(TestResult | CellError)[]> {
  if (!isFinished(scan.status)) return rules.map(() => 'failed' as const);
  const evidence = await packEvidence(parts.evidence, scan, rules);
  if (!evidence) return rules.map(() => 'failed' as const);
  const search = rules.filter((rule) => !isCombo(rule));
  const searched = search.length === 0 ? [] : await searchEach(parts, search, evidence);
  const combos = await combosOn(parts, scan, rules, evidence);
  return rules.map((rule) => (isCombo(rule) ? combos(rule) : searched[search.indexOf(rule)]!));
}

async function searchEach(
  { threads, limits }: RuleTestParts,
  rules: Rule[],
  evidence: PackedEvidence,
): Promise<(TestResult | CellError)[]> {
  const groups = rules.map((rule) => JSON.stringify([rule]));
  const outcomes = await threads.run({ evidence, groups, budgetMs: limits.ruleMs, shared: false });
  return outcomes.map((outcome, at) => resultOf(rules[at]!, outcome));
}

function resultOf(rule: Rule, { matches, finished, elapsed_ms }: GroupOutcome): TestResult | CellError {
  if (matches.length === 0 && !finished.includes(rule.id)) return 'timed_out';
  const tags = findingsOf([rule], matches).map(({ tag_slug, detail }) => ({ tag_slug, detail }));
  return { matched: tags.length > 0, tags, elapsed_ms };
}

/** Combos are tried on the tags that the scan has. */
async function combosOn(parts: RuleTestParts, scan: ScanRecord, rules: Rule[], { landings }: PackedEvidence) {
  const tags = rules.some(isCombo) ? await parts.readTags(scan.organization_id) : new Map();
  const links = landings.flatMap(({ redirect_chain }) => redirect_chain.map(({ url }) => url));
  return (rule: Rule & { rule_type: 'combo' }): TestResult => {
    const began = performance.now();
    const canFire = slugsOf(rule.config).every((slug) => inService(tags, slug) !== null);
    const findings = canFire ? matchCombos([rule], scan.tags, tags, links) : [];
    const hits = findings.map(({ tag_slug, detail }) => ({ tag_slug, detail }));
    return { matched: hits.length > 0, tags: hits, elapsed_ms: Math.ceil(performance.now() - began) };
  };
}

/**
 * Tries rules on scans: cells by rule, then by scan. One batch of an organization at a time (429). A cell that cannot be had says why and
 * takes no other with it; where not even the scans could be read in time, the call fails (504).
 */
export async function testBatch(
  parts: RuleTestParts,
  organizationId: string,
  rules: TestedRule[],
  scanIds: string[],
): Promise<Cell[]> {
  const now = new Date();
  const until = new Date(now.getTime() + parts.limits.batchMs);
  if (!(await parts.claims.claim(organizationId, now, until)))
    throw new ApiError('checking.rule_test_batch_in_progress', 'Your organization has a batch under way.');
  try {
    const scans = await readScans(parts, organizationId, scanIds);
    const written = rules.map((rule, at) => testedRule(rule, at, organizationId));
    const columns: (TestResult | CellError)[][] = [];
    for (const scan of scans) columns.push(await column(parts, scan, written, until));
    return rules.flatMap((rule, index) =>
      scanIds.map((scan_id, at) => cell(index, rule.id ?? null, scan_id, columns[at]![index]!)),
    );
  } finally {
    await parts.claims.release(organizationId, until);
  }
}

async function readScans(parts: RuleTestParts, organizationId: string, ids: string[]): Promise<(ScanRecord | null)[]> {
  const read = Promise.all(ids.map((id) => parts.findScan(organizationId, id)));
  try {
    return await withDeadline(read, parts.limits.batchMs, 'the scans of a batch');
  } catch (cause) {
    throw new ApiError('checking.rule_test_batch_timed_out', 'The scans could not be read in time.', { cause });
  }
}

/** The results of all rules on one scan, within what is left of the deadline. */
async function column(
  parts: RuleTestParts,
  scan: ScanRecord | null,
  rules: Rule[],
  until: Date,
): Promise<(TestResult | CellError)[]> {
  if (!scan) return rules.map(() => 'scan_not_found' as const);
  const left = until.getTime() - Date.now();
  if (left <= 0) return rules.map(() => 'deadline_exceeded' as const);
  try {
    return await withDeadline(testOnScan(parts, scan, rules), left, 'the rules of a batch');
  } catch (cause) {
    const isLate = cause instanceof DeadlineError;
    return rules.map(() => (isLate ? 'deadline_exceeded' : 'failed'));
  }
}

function cell(index: number, rule_id: string | null, scan_id: string, result: TestResult | CellError): Cell {
  const place = { index, rule_id, scan_id };
  if (typeof result !== 'string') return { ...place, ...result, error: null, error_code: null };
  return { ...place, ...NO_MATCH, error: CELL_ERRORS[result], error_code: result };
}
