import { Type } from 'typebox';
import { RULE_TARGETS } from '../rule.ts';
import type { RuleTypeForm } from './rule-type.ts';

const config = Type.Object(
  {
    pattern: Type.String({ minLength: 1, maxLength: 4_096, description: 'An expression in the syntax of RE2.' }),
    flags: Type.Optional(Type.Enum(['', 'i'], { default: '', description: '`i`: any letter case.' })),
  },
  { additionalProperties: false, title: 'ExpressionConfig' },
);

/** An expression; whether RE2 takes it is asked of a thread, which no expression can hold up. */
export const expressions: RuleTypeForm = { config, targets: RULE_TARGETS };

/** An expression over requests, which belong to the page (spec 2.6). */
export const requestExpressions: RuleTypeForm = { config, targets: ['page'] };
