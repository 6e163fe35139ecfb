import { Type } from 'typebox';
import { RULE_TARGETS } from '../rule.ts';
import type { RuleTypeForm } from './rule-type.ts';

/** Any of the words, in any letter case. */
export const words: RuleTypeForm = {
  config: Type.Object(
    {
      contains: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'A rule matches where any of these stands, in any letter case.',
      }),
    },
    { additionalProperties: false, title: 'WordsConfig' },
  ),
  targets: RULE_TARGETS,
};
