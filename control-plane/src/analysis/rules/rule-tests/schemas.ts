import { DistinctList } from '@adsweep/shared/validation/distinct-list.ts';
import { type Static, Type } from 'typebox';
import { orNull } from '../../../http/route.ts';
import { conditionFields } from '../rule-in.ts';

const tested = {
  ...conditionFields,
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, default: 'Test Rule' })),
  tag_slug: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: 'rule-test' })),
};
const exampleRule = { rule_type: 'stopword_content', config: { contains: ['casino'] } };
const exampleScan = '5f0c0c1e-0000-4000-8000-000000000000';

const TestedRuleSchema = Type.Object(
  { id: Type.Optional(orNull(Type.String({ maxLength: 200, description: 'Echoed as `rule_id`.' }))), ...tested },
  { additionalProperties: false, title: 'BatchRule', examples: [exampleRule] },
);
export type TestedRule = Static<typeof TestedRuleSchema>;

export const RuleTestInSchema = Type.Object(
  {
    scan_id: Type.String({ minLength: 1, maxLength: 200 }),
    ...tested,
    context: Type.Optional(
      Type.Enum(['isolated', 'production'], {
        default: 'isolated',
        description:
          'AI rules only. `production`: as the AI rule `rule_id` would be asked with this configuration in a scan, by its name and without tags that are archived.',
      }),
    ),
    rule_id: Type.Optional(
      orNull(Type.String({ minLength: 1, maxLength: 200, description: 'The AI rule; for `context: production`.' })),
    ),
  },
  { additionalProperties: false, title: 'RuleTestIn', examples: [{ scan_id: exampleScan, ...exampleRule }] },
);

export type RuleTestIn = Static<typeof RuleTestInSchema>;

export const BatchInSchema = Type.Object(
  {
    rules: Type.Array(TestedRuleSchema, { minItems: 1, maxItems: 20 }),
    scan_ids: DistinctList(Type.String({ format: 'uuid' }), { minItems: 1, maxItems: 50 }),
  },
  { additionalProperties: false, title: 'BatchIn', examples: [{ rules: [exampleRule], scan_ids: [exampleScan] }] },
);

const HitSchema = Type.Object({ tag_slug: Type.String(), detail: Type.String() }, { title: 'RuleHit' });
const outcome = {
  matched: Type.Boolean(),
  tags: Type.Array(HitSchema, { description: 'Tags that the rule would assign.' }),
  elapsed_ms: Type.Integer({ description: 'CPU; of AI rules the time until the answer.' }),
};

export const RuleTestSchema = Type.Object(
  { ...outcome, llm_failed: Type.Boolean({ description: 'A model gave no verdict.' }) },
  { title: 'RuleTest' },
);

/** What one rule would do to one scan. */
export type TestResult = Pick<Static<typeof RuleTestSchema>, 'matched' | 'tags' | 'elapsed_ms'>;
export const NO_MATCH: TestResult = { matched: false, tags: [], elapsed_ms: 0 };

/** Why a cell has no result (spec 7.2). */
export const CELL_ERRORS = {
  deadline_exceeded: 'The deadline of the request was over; send it again.',
  timed_out: 'The rule hit its own time limit on this scan.',
  llm_failed: 'The AI model gave no verdict.',
  content_prohibited: 'The AI provider refused the content.',
  scan_not_found: 'There is no such scan.',
  invalid_rule: 'The rule could not be read when it was run.',
  failed: 'The rule could not be run on this scan.',
} as const;
export type CellError = keyof typeof CELL_ERRORS;

export const BatchSchema = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ description: 'The place of the rule in `rules`.' }),
          rule_id: orNull(Type.String()),
          scan_id: Type.String(),
          ...outcome,
          error: orNull(Type.String()),
          error_code: Type.Union([Type.Enum(Object.keys(CELL_ERRORS)), Type.Null()]),
        },
        { title: 'BatchCell' },
      ),
    ),
    summary: Type.Object(
      {
        total: Type.Integer(),
        matched: Type.Integer(),
        failed: Type.Integer({ description: 'Cells with an error, `deadline_exceeded` included.' }),
        deadline_exceeded: Type.Integer(),
      },
      { title: 'BatchSummary' },
    ),
  },
  { title: 'Batch' },
);
