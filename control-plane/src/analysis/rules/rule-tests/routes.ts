import { API_BODY_BYTES_MAX } from '@adsweep/shared/limits.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { ApiError, notFound, refused as refusal } from '../../../http/api-error.ts';
import type { Caller } from '../../../http/caller.ts';
import { ok, type Route, route } from '../../../http/route.ts';
import { visibleTags } from '../../../reference/tags/tag-definitions.ts';
import { ruleIssues } from '../check-rule.ts';
import { isModelType, slugsAssignedBy } from '../rule.ts';
import type { RuleStore } from '../rule-store.ts';
import type { ProblemsOf } from '../rule-types/rule-type.ts';
import {
  BatchInSchema,
  BatchSchema,
  NO_MATCH,
  type RuleTestIn,
  RuleTestInSchema,
  RuleTestSchema,
  type TestedRule,
} from './schemas.ts';
import { type Cell, type OfferedTags, type RuleTestParts, testBatch, testedRule, testOnScan } from './test-rules.ts';

export type RuleTestRouteParts = {
  ruleTests: RuleTestParts;
  problemsOf: ProblemsOf;
  rules: Pick<RuleStore, 'find'>;
  /** Throws 403 where the organization may cause no costs. */
  requireSolvent: (organizationId: string) => Promise<void>;
};

const group = 'Custom rules';
/** Results without an answer of the model. */
const LLM_FAILURES = new Set<unknown>(['llm_failed', 'content_prohibited', 'deadline_exceeded']);
/** Answers to an organization for which the model is not called. */
const UNPAID = ['billing.suspended', 'billing.insufficient_funds'] as const;
/** Values in a request: twenty rules of a thousand words each. */
const BATCH_VALUES_MAX = 25_000;

/** Tests of rules on scans: nothing is stored, and no scan is changed (spec 4.4). */
export function ruleTestRoutes(parts: RuleTestRouteParts): Route<Caller>[] {
  return [testRoute(parts), batchRoute(parts)];
}

function testRoute({ ruleTests, problemsOf, rules, requireSolvent }: RuleTestRouteParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/custom-rules/test',
    group,
    summary: 'Test a rule on a scan',
    description: 'On what is kept of the scan: after a day, its chain and up to 200 requests, without contents.',
    permission: 'custom_rules.manage',
    body: RuleTestInSchema,
    replies: { 200: { description: 'What it would do.', schema: RuleTestSchema } },
    errors: [...UNPAID, 'not_found', 'checking.scan_not_finished', 'checking.rule_test_timed_out'],
    refine: async ({ caller, body, refused }) => {
      if (!refused) return [];
      const issues = [
        ...(await testedIssues(body, caller, { ruleTests, problemsOf })),
        ...(await contextIssues(body, caller, rules)),
      ];
      return issues.map((issue) => ({ ...issue, loc: ['body', ...issue.loc] }));
    },
    handle: async ({ caller, body }) => {
      const { organizationId } = caller;
      if (isModelType(body.rule_type)) await requireSolvent(organizationId);
      const scan = await ruleTests.findScan(organizationId, body.scan_id);
      if (!scan) throw notFound('scan');
      const { name, offered } = await contextOf(body, organizationId, { ruleTests, rules });
      const [result] = await testOnScan(ruleTests, scan, [testedRule({ ...body, name }, 0, organizationId)], {
        offered,
      });
      if (result === 'timed_out')
        throw new ApiError('checking.rule_test_timed_out', 'The rule hit its own time limit on this scan.');
      if (result === 'invalid_rule')
        throw refusal([{ loc: ['body', 'config'], msg: 'The rule could not be read.', type: 'invalid_rule', ctx: {} }]);
      if (LLM_FAILURES.has(result)) return ok({ ...NO_MATCH, llm_failed: true });
      if (typeof result !== 'object')
        throw new ApiError('checking.scan_not_finished', 'The scan is not finished, or its evidence is gone.');
      return ok({ ...result, llm_failed: false });
    },
  });
}

function batchRoute({ ruleTests, problemsOf, requireSolvent }: RuleTestRouteParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/custom-rules/test-batch',
    group,
    summary: 'Test rules on scans',
    description: 'Cells by rule, then by scan. One batch of your organization at a time.',
    permission: 'custom_rules.manage',
    body: BatchInSchema,
    bodyBounds: { bytes: API_BODY_BYTES_MAX, values: BATCH_VALUES_MAX },
    numberedItems: 'rules',
    replies: { 200: { description: 'A cell for each rule on each scan.', schema: BatchSchema } },
    errors: [...UNPAID, 'checking.rule_test_batch_in_progress', 'checking.rule_test_batch_timed_out'],
    refine: async ({ caller, body, refused }) => {
      const rules = refused && !refused.has('rules') ? (body.rules ?? []) : [];
      const found = await Promise.all(rules.map((rule) => testedIssues(rule, caller, { ruleTests, problemsOf })));
      return found.flatMap((issues, at) =>
        issues.map((issue) => ({ ...issue, loc: ['body', 'rules', at, ...issue.loc] })),
      );
    },
    handle: async ({ caller, body }) => {
      if (body.rules.some(({ rule_type }) => isModelType(rule_type))) await requireSolvent(caller.organizationId);
      const results = await testBatch(ruleTests, caller.organizationId, body.rules, body.scan_ids);
      return ok({ results, summary: summaryOf(results) });
    },
  });
}

/** `context: production` requires a stored AI rule of the caller. */
async function contextIssues(
  { context, rule_type, rule_id = null }: Partial<RuleTestIn>,
  { organizationId }: Caller,
  rules: RuleTestRouteParts['rules'],
): Promise<Issue[]> {
  if (context !== 'production') return [];
  if (rule_type !== undefined && !isModelType(rule_type))
    return [{ loc: ['context'], msg: 'For AI rules only.', type: 'invalid_combination', ctx: given(context) }];
  if (rule_id === null) return [{ loc: ['rule_id'], msg: 'This field is required.', type: 'missing', ctx: {} }];
  if (isModelType((await rules.find(organizationId, rule_id))?.rule_type)) return [];
  return [{ loc: ['rule_id'], msg: 'There is no such AI rule.', type: 'not_found', ctx: given(rule_id) }];
}

/**
 * The name under which a rule is tested, and the tags that it may assign: in production those that are not archived.
 */
async function contextOf(
  { context, name, rule_id }: RuleTestIn,
  organizationId: string,
  { ruleTests, rules }: Pick<RuleTestRouteParts, 'ruleTests' | 'rules'>,
): Promise<{ name?: string; offered?: OfferedTags }> {
  const saved = context === 'production' && rule_id ? await rules.find(organizationId, rule_id) : null;
  if (!saved) return { name };
  const tags = await ruleTests.readTags(organizationId);
  const offered: OfferedTags = (rule) => slugsAssignedBy(rule).filter((slug) => !tags.get(slug)?.archived_at);
  return { name: name ?? saved.name, offered };
}

async function testedIssues(
  { rule_type, config, target = 'page' }: Partial<TestedRule>,
  { organizationId }: Caller,
  { ruleTests, problemsOf }: Pick<RuleTestRouteParts, 'ruleTests' | 'problemsOf'>,
): Promise<Issue[]> {
  if (!rule_type || !config) return [];
  const tags = await ruleTests.readTags(organizationId);
  const ofCaller = (patterns: string[]) => problemsOf(organizationId, patterns);
  return ruleIssues({ rule_type, config, target }, { tags: visibleTags(tags), problemsOf: ofCaller });
}

const summaryOf = (cells: Cell[]) => ({
  total: cells.length,
  matched: cells.filter(({ matched }) => matched).length,
  failed: cells.filter(({ error_code }) => error_code !== null).length,
  deadline_exceeded: cells.filter(({ error_code }) => error_code === 'deadline_exceeded').length,
});
