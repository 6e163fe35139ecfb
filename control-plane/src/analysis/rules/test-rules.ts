import { isFinished } from '@adsweep/shared/scan/scan-status.ts';
import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { ApiError } from '../../http/api-error.ts';
import { inService, type ReadTags } from '../../reference/tags/tag-definitions.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { BatchClaims } from './batch-claim-store.ts';
import { findingsOf, matchCombos } from './evaluation/evaluate-rules.ts';
import type { GroupOutcome, PackedEvidence, RunRules } from './evaluation/rule-job.ts';
import { type PackedSources, packEvidence } from './packed-evidence.ts';
import {
  type ComboRule,
  type Condition,
  isCombo,
  isModelRule,
  isSearch,
  type ModelRule,
  type Rule,
  slugsAssignedBy,
  slugsReadBy,
} from './rule.ts';
import { CELL_ERRORS, type CellError, NO_MATCH, type TestedRule, type TestResult } from './rule-test-in.ts';
import { type TestModel, testByModel } from './test-by-model.ts';

/** What rule tests need; `limits` in ms: of CPU for one rule on one scan, and of a whole batch. */
export type RuleTestParts = {
  evidence: PackedSources;
  findScan: (organizationId: string, id: string) => Promise<ScanRecord | null>;
  readTags: ReadTags;
  threads: { run: RunRules };
  claims: BatchClaims;
  model: TestModel;
  limits: { ruleMs: number; batchMs: number };
};

export type Cell = TestResult & {
  index: number;
  rule_id: string | null;
  scan_id: string;
  error: string | null;
  error_code: CellError | null;
};

/** The share of the time for a scan that a model has: its cells are told apart from those that are done. */
const MODEL_SHARE = 0.95;
/** When an organization whose batch is under way asks again: most batches take less. */
const BATCH_RETRY_SECONDS = '5';
/** Scans of a batch that are tried at once. */
const COLUMNS_AT_ONCE = 4;

/** A rule that is tried and not stored. Its id is its place, by which its matches are told apart. */
export function testedRule(tested: TestedRule, at: number, organization_id: string): Rule {
  const { rule_type, config, target = 'page', name = 'Test Rule', tag_slug = 'rule-test' } = tested;
  return { id: String(at), organization_id, name, tag_slug, target, ...({ rule_type, config } as Condition) };
}

/** The tags that the model is offered for an AI rule. */
export type OfferedTags = (rule: ModelRule) => string[];

/**
 * The result of each rule on a scan, or why there is none, within `ms`. The scan is read once, and nothing of it changes.
 */
export async function testOnScan(
  parts: RuleTestParts,
  scan: ScanRecord,
  rules: Rule[],
  { ms = parts.limits.batchMs, offered = slugsAssignedBy }: { ms?: number; offered?: OfferedTags } = {},
): Promise<(TestResult | CellError)[]> {
  if (!isFinished(scan.status)) return rules.map(() => 'failed' as const);
  const evidence = await packEvidence(parts.evidence, scan, rules);
  if (!evidence) return rules.map(() => 'failed' as const);
  const [search, llm] = [rules.filter(isSearch), rules.filter(isModelRule)];
  const signal = AbortSignal.timeout(Math.floor(ms * MODEL_SHARE));
  const asking = testByModel(parts.model, scan, { rules: llm, offered }, evidence, signal);
  const [judged, searched, combos] = await Promise.all([
    asking,
    search.length === 0 ? [] : searchEach(parts, search, evidence),
    combosOn(parts, scan, rules, evidence),
  ]);
  return rules.map((rule) => {
    if (isCombo(rule)) return combos(rule);
    return isSearch(rule) ? searched[search.indexOf(rule)]! : judged[llm.indexOf(rule)]!;
  });
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

function resultOf(rule: Rule, { matches, finished, unreadable, elapsed_ms }: GroupOutcome): TestResult | CellError {
  if (unreadable.includes(rule.id)) return 'invalid_rule';
  if (matches.length === 0 && !finished.includes(rule.id)) return 'timed_out';
  const tags = findingsOf([rule], matches).map(({ tag_slug, detail }) => ({ tag_slug, detail }));
  return { matched: tags.length > 0, tags, elapsed_ms };
}

/** Combos are tried on the tags that the scan has. */
async function combosOn(parts: RuleTestParts, scan: ScanRecord, rules: Rule[], { landings }: PackedEvidence) {
  const tags = rules.some(isCombo) ? await parts.readTags(scan.organization_id) : new Map();
  const links = landings.flatMap(({ redirect_chain }) => redirect_chain.map(({ url }) => url));
  return (rule: ComboRule): TestResult => {
    const began = performance.now();
    const canFire = slugsReadBy(rule).every((slug) => inService(tags, slug) !== null);
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
    throw new ApiError('checking.rule_test_batch_in_progress', 'Your organization has a batch under way.', {
      headers: { 'Retry-After': BATCH_RETRY_SECONDS },
    });
  try {
    const scans = await readScans(parts, organizationId, scanIds);
    const written = rules.map((rule, at) => testedRule(rule, at, organizationId));
    const columns = await inParallel(COLUMNS_AT_ONCE, scans, (scan) => column(parts, scan, written, until));
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
    return await withDeadline(testOnScan(parts, scan, rules, { ms: left }), left, 'the rules of a batch');
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

/** What `work` makes of each item, in their order, for so many of them at a time. */
async function inParallel<T, R>(count: number, items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const [results, left] = [new Array<R>(items.length), items.entries()];
  const take = async () => {
    for (const [at, item] of left) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: count }, take));
  return results;
}
