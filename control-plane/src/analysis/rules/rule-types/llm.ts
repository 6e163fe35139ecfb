import { Type } from 'typebox';
import { RULE_TARGETS } from '../rule.ts';
import { SLUG_PATTERN } from '../slug-pattern.ts';
import type { RuleTypeForm } from './rule-type.ts';

/** A question to a model, and the tags that it may answer with. */
export const llm: RuleTypeForm = {
  config: Type.Object(
    {
      prompt: Type.String({ minLength: 1, maxLength: 4_000, description: 'What the model is to look for.' }),
      tags: Type.Record(
        Type.String({ pattern: SLUG_PATTERN }),
        Type.String({ minLength: 1, maxLength: 500, description: 'When the tag is to be assigned.' }),
        { minProperties: 1, maxProperties: 20, additionalProperties: false, description: 'Tags that it may assign.' },
      ),
    },
    { additionalProperties: false, title: 'LlmConfig' },
  ),
  targets: RULE_TARGETS,
};
