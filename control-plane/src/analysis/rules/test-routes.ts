import { API_BODY_BYTES_MAX } from '@adsweep/shared/limits.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import type { Issue } from '../../http/errors.ts';
import { ok, type Route, route } from '../../http/route.ts';
import { type RuleCheckParts, ruleIssues } from './check-rule.ts';
import {
  BatchInSchema,
  BatchSchema,
  NO_MATCH,
  RuleTestInSchema,
  RuleTestSchema,
  type TestedRule,
} from './rule-test-in.ts';
import { type Cell, type RuleTestParts, testBatch, testedRule, testOnScan } from './test-rules.ts';

export type RuleTestRouteParts = { ruleTests: RuleTestParts; problemsOf: RuleCheckParts['problemsOf'] };

const group = 'Custom rules';
/** Results without a verdict of the model. */
const LLM_FAILURES = new Set<unknown>(['llm_failed', 'content_prohibited', 'deadline_exceeded']);
/** Twenty rules of a thousand words each. */
const BATCH_VALUES_MAX = 25_000;

/** Tries of rules on scans: nothing is stored, and no scan changes (spec 4.4). */
export function ruleTestRoutes(parts: RuleTestRouteParts): Route<Caller>[] {
  return [testRoute(parts), batchRoute(parts)];
}

function testRoute({ ruleTests, problemsOf }: RuleTestRouteParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/custom-rules/test',
    group,
    summary: 'Test a rule on a scan',
    description: 'On what is kept of the scan: after a day, its chain and up to 200 requests, without contents.',
    permission: 'custom_rules.manage',
    body: RuleTestInSchema,
    replies: { 200: { description: 'What it would do.', schema: RuleTestSchema } },
    errors: ['not_found', 'checking.scan_not_finished', 'checking.rule_test_timed_out'],
    refine: async ({ caller, body, refused }) => {
      if (!refused) return [];
      const issues = await testedIssues(body, caller, { ruleTests, problemsOf });
      return issues.map((issue) => ({ ...issue, loc: ['body', ...issue.loc] }));
    },
    handle: async ({ caller, body }) => {
      const { scan_id, ...tested } = body;
      const scan = await ruleTests.findScan(caller.organizationId, scan_id);
      if (!scan) throw notFound('scan');
      const [result] = await testOnScan(ruleTests, scan, [testedRule(tested, 0, caller.organizationId)]);
      if (result === 'timed_out')
        throw new ApiError('checking.rule_test_timed_out', 'The rule hit its own time limit on this scan.');
      if (LLM_FAILURES.has(result)) return ok({ ...NO_MATCH, llm_failed: true });
      if (typeof result !== 'object')
        throw new ApiError('checking.scan_not_finished', 'The scan is not finished, or its evidence is gone.');
      return ok({ ...result, llm_failed: false });
    },
  });
}

function batchRoute({ ruleTests, problemsOf }: RuleTestRouteParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/custom-rules/test-batch',
    group,
    summary: 'Test rules on scans',
    description: 'Cells by rule, then by scan. One batch of your organization at a time.',
    permission: 'custom_rules.manage',
    body: BatchInSchema,
    bodyBounds: { bytes: API_BODY_BYTES_MAX, values: BATCH_VALUES_MAX },
    replies: { 200: { description: 'A cell for each rule on each scan.', schema: BatchSchema } },
    errors: ['checking.rule_test_batch_in_progress', 'checking.rule_test_batch_timed_out'],
    refine: async ({ caller, body, refused }) => {
      const rules = refused && !refused.has('rules') ? (body.rules ?? []) : [];
      const found = await Promise.all(rules.map((rule) => testedIssues(rule, caller, { ruleTests, problemsOf })));
      return found.flatMap((issues, at) =>
        issues.map(({ loc, msg, ...rest }) => ({
          ...rest,
          loc: ['body', 'rules', at, ...loc],
          msg: `rules[${at}]: ${msg}`,
        })),
      );
    },
    handle: async ({ caller, body }) => {
      const results = await testBatch(ruleTests, caller.organizationId, body.rules, body.scan_ids);
      return ok({ results, summary: summaryOf(results) });
    },
  });
}

async function testedIssues(
  { rule_type, config, target = 'page' }: Partial<TestedRule>,
  { organizationId }: Caller,
  { ruleTests, problemsOf }: RuleTestRouteParts,
): Promise<Issue[]> {
  if (!rule_type || !config) return [];
  const tags = await ruleTests.readTags(organizationId);
  return ruleIssues({ rule_type, config, target }, { tags, problemsOf });
}

const summaryOf = (cells: Cell[]) => ({
  total: cells.length,
  matched: cells.filter(({ matched }) => matched).length,
  failed: cells.filter(({ error_code }) => error_code !== null).length,
  deadline_exceeded: cells.filter(({ error_code }) => error_code === 'deadline_exceeded').length,
});
