import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { compileValidator } from '../../http/validate.ts';
import type { RuleType } from './rule.ts';
import { RULE_TYPES } from './rule-types/index.ts';
import type { RuleCheckParts, RuleTarget } from './rule-types/rule-type.ts';

/** What decides whether a rule can be run: a valid type, and any configuration and target. */
export type WrittenRule = { rule_type: RuleType; config: unknown; target: RuleTarget };

const CHECKS = new Map(
  Object.entries(RULE_TYPES).map(([type, { config }]) => [type, compileValidator(config, 'body')]),
);

/** Everything that is wrong with the configuration and the target of a rule (spec 2.6); paths begin at the rule. */
export async function ruleIssues(rule: WrittenRule, parts: RuleCheckParts): Promise<Issue[]> {
  const { rule_type, config, target } = rule;
  const type = RULE_TYPES[rule_type];
  const targets: readonly RuleTarget[] = type.targets;
  const ofTarget = targets.includes(target) ? [] : [wrongTarget(target, targets)];
  const ofSchema = CHECKS.get(rule_type)!(config).issues.map((issue) => ({ ...issue, loc: issue.loc.slice(1) }));
  const ofConfig = ofSchema.length > 0 ? ofSchema : await type.issues(config as never, parts);
  return [...ofConfig.map((issue) => ({ ...issue, loc: ['config', ...issue.loc] })), ...ofTarget];
}

function wrongTarget(target: RuleTarget, expected: readonly RuleTarget[]): Issue {
  const msg = `Must be one of: ${expected.join(', ')}.`;
  return { loc: ['target'], msg, type: 'enum', ctx: { given: target, expected } };
}
