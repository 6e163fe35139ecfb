import { isFinished } from '@adsweep/shared/scan/scan-status.ts';
import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { ApiError } from '../../../http/api-error.ts';
import type { PerOwnerLimit } from '../../../platform/per-owner-limit.ts';
import { inService, type ReadTags, type Tags } from '../../../reference/tags/tag-definitions.ts';
import type { ScanRecord } from '../../../scan/scan.ts';
import type { Finding } from '../../detectors/detector.ts';
import { type EvidenceSources, type PackedScan, packScan } from '../../evidence/packed-scan.ts';
import type { ModelSubject } from '../../model/model-evidence.ts';
import type { AskModel } from '../../model/question.ts';
import type { ShowModel } from '../../model/show-model.ts';
import { comboMatcher, findingsOf, needsOf } from '../evaluation/evaluate-rules.ts';
import type { GroupOutcome, TryRules } from '../evaluation/run-rules.ts';
import {
  type ComboRule,
  type Condition,
  isCombo,
  isModelRule,
  isSearch,
  type ModelRule,
  type Rule,
  type SearchRule,
  slugsAssignedBy,
  slugsReadBy,
} from '../rule.ts';
import { RULE_TYPES } from '../rule-types/index.ts';
import type { BatchClaims } from './batch-claim-store.ts';
import { CELL_ERRORS, type CellError, NO_MATCH, type TestedRule, type TestResult } from './schemas.ts';

/**
 * What rule tests need. `model` null: there is none. `limits` in ms: CPU of one rule on one scan, and duration of a
 * batch.
 */
export type RuleTestParts = {
  evidence: EvidenceSources;
  findScan: (organizationId: string, id: string) => Promise<ScanRecord | null>;
  readTags: ReadTags;
  threads: { tryRules: TryRules };
  /** Scans of an organization whose evidence is in memory at once, for the thread that is to read it. */
  evidenceHeld: PerOwnerLimit;
  claims: BatchClaims;
  model: { ask: AskModel; show: ShowModel } | null;
  limits: { ruleMs: number; batchMs: number };
};

export type Cell = TestResult & {
  index: number;
  rule_id: string | null;
  scan_id: string;
  error: string | null;
  error_code: CellError | null;
};

/** Share of a scan's deadline that AI rules may use; the rest is for reporting unfinished cells. */
const MODEL_SHARE = 0.95;
/** `Retry-After` of a refused batch: most batches take less. */
const BATCH_RETRY_SECONDS = '5';
/** Scans of a batch, and of an organization, that are tested at once. */
export const SCANS_AT_ONCE = 4;

/** A rule that is tested and not stored. Its id is its index, which its matches name. */
export function testedRule(tested: TestedRule, at: number, organization_id: string): Rule {
  const { rule_type, config, target = 'page', name = 'Test Rule', tag_slug = 'rule-test' } = tested;
  return { id: String(at), organization_id, name, tag_slug, target, ...({ rule_type, config } as Condition) };
}

/** The tags that the model is offered for an AI rule. */
export type OfferedTags = (rule: ModelRule) => string[];

type Result = TestResult | CellError;

/**
 * The result of each rule on a scan within `ms`, or why there is none. The evidence is unpacked once, in a thread; the
 * scan is not changed.
 */
export async function testOnScan(
  parts: RuleTestParts,
  scan: ScanRecord,
  rules: Rule[],
  { ms = parts.limits.batchMs, offered = slugsAssignedBy }: { ms?: number; offered?: OfferedTags } = {},
): Promise<Result[]> {
  if (!isFinished(scan.status)) return rules.map(() => 'failed' as const);
  const [search, ofModel] = [rules.filter(isSearch), rules.filter(isModelRule)];
  const signal = AbortSignal.timeout(Math.floor(ms * MODEL_SHARE));
  const tried = await beginTrying(parts, scan, rules, search);
  if (!tried) return rules.map(() => 'failed' as const);
  const { inputs, outcomes, lost } = tried;
  const tags = rules.some(isCombo) ? parts.readTags(scan.organization_id) : new Map();
  const [asked, searched, { links }, known] = await Promise.all([
    inputs.then(({ subject }) => askModel(parts.model, scan, subject, { rules: ofModel, offered, signal })),
    outcomes,
    inputs,
    tags,
  ]);
  const matchCombo = comboMatcher(scan.tags, known, links);
  return rules.map((rule) => {
    if (needsOf([rule]).intersection(new Set(lost)).size > 0) return 'failed';
    if (isCombo(rule)) return comboResult(rule, matchCombo, known);
    return isSearch(rule) ? searchResult(rule, searched[search.indexOf(rule)]!) : asked[ofModel.indexOf(rule)]!;
  });
}

/** Rules that are being tried. `lost`: parts of the evidence that are not there for them. */
type Tried = ReturnType<TryRules> & Pick<PackedScan, 'lost'>;

/**
 * Has a thread try the search rules on the scan's evidence, once few enough of the organization's are in memory; null:
 * there is no evidence (any more).
 */
function beginTrying(
  { evidence, evidenceHeld, threads, limits }: RuleTestParts,
  scan: ScanRecord,
  rules: Rule[],
  search: SearchRule[],
): Promise<Tried | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Tried | null>();
  const groups = search.map((rule) => JSON.stringify([rule]));
  const hold = async () => {
    const packed = await packScan(evidence, scan, needsOf(rules));
    const tried = packed && { ...threads.tryRules(packed, groups, limits.ruleMs), lost: packed.lost };
    resolve(tried);
    await tried?.outcomes;
  };
  // An error of the outcomes comes after `resolve`, so that `reject` does nothing then: the caller gets it from the
  // outcomes.
  evidenceHeld.run(scan.organization_id, hold).catch(reject);
  return promise;
}

function searchResult(rule: Rule, { matches, finished, unreadable, elapsed_ms }: GroupOutcome): Result {
  if (unreadable.includes(rule.id)) return 'invalid_rule';
  if (matches.length === 0 && !finished.includes(rule.id)) return 'timed_out';
  return matchOf(findingsOf([rule], matches), elapsed_ms);
}

/** Combos are tested on the tags that the scan has from anything but combos. */
function comboResult(rule: ComboRule, match: (rule: ComboRule) => Finding[], tags: Tags): TestResult {
  const began = performance.now();
  const canMatch = slugsReadBy(rule).every((slug) => inService(tags, slug) !== null);
  const findings = canMatch ? match(rule) : [];
  return matchOf(findings, Math.ceil(performance.now() - began));
}

/**
 * Asks the model for the tags of all AI rules at once, of those that each is `offered`. `signal` ends questions without
 * an answer.
 */
async function askModel(
  model: RuleTestParts['model'],
  scan: ScanRecord,
  subject: ModelSubject,
  { rules, offered, signal }: { rules: ModelRule[]; offered: OfferedTags; signal: AbortSignal },
): Promise<Result[]> {
  if (!model || rules.length === 0) return rules.map(() => 'llm_failed' as const);
  const shown = await model.show(scan, subject);
  return Promise.all(
    rules.map(async (rule) => {
      const began = performance.now();
      try {
        const verdict = await RULE_TYPES[rule.rule_type].match(model.ask, rule, offered(rule), shown, signal);
        if (verdict.outcome !== 'answered') return verdict.outcome === 'refused' ? 'content_prohibited' : 'llm_failed';
        return matchOf(verdict.answer, Math.ceil(performance.now() - began));
      } catch {
        return signal.aborted ? 'deadline_exceeded' : 'failed';
      }
    }),
  );
}

function matchOf(findings: { tag_slug: string; detail: string }[], elapsed_ms: number): TestResult {
  const tags = findings.map(({ tag_slug, detail }) => ({ tag_slug, detail }));
  return { matched: tags.length > 0, tags, elapsed_ms };
}

/**
 * Tests rules on scans and returns cells by rule, then by scan. Refuses a second batch of an organization at the same
 * time (429) and fails if the scans cannot be read in time (504). A cell without a result has an error and does not
 * affect the others.
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
    const columns = await inParallel(SCANS_AT_ONCE, scans, (scan) => column(parts, scan, written, until));
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

/** The results of all rules on one scan, before the deadline. */
async function column(parts: RuleTestParts, scan: ScanRecord | null, rules: Rule[], until: Date): Promise<Result[]> {
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

function cell(index: number, rule_id: string | null, scan_id: string, result: Result): Cell {
  const cellOf = { index, rule_id, scan_id };
  if (typeof result !== 'string') return { ...cellOf, ...result, error: null, error_code: null };
  return { ...cellOf, ...NO_MATCH, error: CELL_ERRORS[result], error_code: result };
}

/** Runs `work` on all items, `count` at a time, and returns the results in the order of the items. */
async function inParallel<T, R>(count: number, items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const [results, left] = [new Array<R>(items.length), items.entries()];
  const take = async () => {
    for (const [at, item] of left) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: count }, take));
  return results;
}
