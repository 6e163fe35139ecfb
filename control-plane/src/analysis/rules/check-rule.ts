import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { compileCheck } from '../../http/validate.ts';
import type { Tags } from '../../reference/tags/tag-definitions.ts';
import { slugsOf } from './evaluation/combos.ts';
import type { ComboConfig, ExpressionConfig, RuleTarget, RuleType } from './rule.ts';
import { RULE_FORMS } from './rule-types/index.ts';

/** What decides whether a rule can be run: a valid type, whatever else. */
export type WrittenRule = { rule_type: RuleType; config: unknown; target: RuleTarget };

/** What a rule is checked against: the tags that it may refer to, and RE2 (in a thread). */
export type RuleCheckParts = { tags: Tags; problemsOf: (patterns: string[]) => Promise<(string | null)[]> };

const CHECKS = new Map(Object.entries(RULE_FORMS).map(([type, { config }]) => [type, compileCheck(config, 'body')]));

/** All that is wrong with the configuration and target of a rule (spec 2.6); paths begin at the rule. */
export async function ruleIssues(rule: WrittenRule, { tags, problemsOf }: RuleCheckParts): Promise<Issue[]> {
  const { rule_type, config, target } = rule;
  const form = RULE_FORMS[rule_type];
  const ofTarget = form.targets.includes(target) ? [] : [wrongTarget(target, form.targets)];
  const ofSchema = CHECKS.get(rule_type)!(config).issues.map((issue) => ({ ...issue, loc: issue.loc.slice(1) }));
  const ofConfig = ofSchema.length > 0 ? ofSchema : await deeperIssues(rule, { tags, problemsOf });
  return [...ofConfig.map((issue) => ({ ...issue, loc: ['config', ...issue.loc] })), ...ofTarget];
}

async function deeperIssues({ rule_type, config }: WrittenRule, parts: RuleCheckParts): Promise<Issue[]> {
  if (rule_type.startsWith('regexp_')) return expressionIssues(config as ExpressionConfig, parts);
  const issues = RULE_FORMS[rule_type].issues?.(config as never) ?? [];
  return rule_type === 'combo' ? [...issues, ...unknownTags(config as ComboConfig, parts.tags)] : issues;
}

async function expressionIssues({ pattern }: ExpressionConfig, { problemsOf }: RuleCheckParts): Promise<Issue[]> {
  const [problem] = await problemsOf([pattern]);
  if (!problem) return [];
  return [{ loc: ['pattern'], msg: `RE2 refuses this expression: ${problem}.`, type: 'regexp', ctx: given(pattern) }];
}

function unknownTags(config: ComboConfig, tags: Tags): Issue[] {
  return (['all_of', 'any_of', 'none_of'] as const).flatMap((condition): Issue[] => {
    const unknown = slugsOf({ all_of: config[condition] ?? [] }).filter((slug) => !tags.has(slug));
    if (unknown.length === 0) return [];
    const msg = `Unknown tag(s): ${unknown.join(', ')}.`;
    return [{ loc: [condition], msg, type: 'not_found', ctx: given(config[condition]) }];
  });
}

function wrongTarget(target: RuleTarget, expected: readonly RuleTarget[]): Issue {
  const msg = `Must be one of: ${expected.join(', ')}.`;
  return { loc: ['target'], msg, type: 'enum', ctx: { given: target, expected } };
}
