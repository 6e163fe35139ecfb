import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { type ComboConfig, RULE_TARGETS } from '../rule.ts';
import type { RuleTypeForm } from './rule-type.ts';

const Slugs = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description,
    }),
  );
const AtLeast = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 1, description }));

/** Tags together; every condition that is given must hold. */
export const combo: RuleTypeForm = {
  config: Type.Object(
    {
      match_scope: Type.Optional(
        Type.Enum(['scan', 'url'], { default: 'scan', description: '`url`: all conditions on one link.' }),
      ),
      all_of: Slugs('All of these tags.'),
      any_of: Slugs('`any_of_min` of these tags.'),
      any_of_min: AtLeast('How many of `any_of`.'),
      none_of: Slugs('None of these tags.'),
      tag_category: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      count_gte: AtLeast('How many tags of `tag_category`.'),
    },
    { additionalProperties: false, title: 'ComboConfig' },
  ),
  targets: RULE_TARGETS,
  issues: (config: ComboConfig): Issue[] => {
    const { all_of, any_of, any_of_min, none_of, tag_category, count_gte } = config;
    const refuse = (field: string, msg: string): Issue => ({ loc: [field], msg, type: 'invalid_combination', ctx: {} });
    const isEmpty = [all_of, any_of, none_of, tag_category].every((condition) => condition === undefined);
    return [
      ...(isEmpty ? [{ loc: [], msg: 'Name at least one condition.', type: 'missing', ctx: {} }] : []),
      ...(any_of_min !== undefined && !any_of ? [refuse('any_of_min', 'Needs any_of beside it.')] : []),
      ...(any_of && (any_of_min ?? 1) > any_of.length
        ? [refuse('any_of_min', 'Must not be more than any_of has tags.')]
        : []),
      ...(count_gte !== undefined && tag_category === undefined
        ? [refuse('count_gte', 'Needs tag_category beside it.')]
        : []),
    ];
  },
};
