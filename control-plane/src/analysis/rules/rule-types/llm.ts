import { type Static, Type } from 'typebox';
import type { Finding } from '../../detectors/detector.ts';
import { type ModelEvidence, saysSomething } from '../../model/model-evidence.ts';
import type { Question } from '../../model/question.ts';
import { type ModelType, RULE_TARGETS, type RuleTarget, SLUG_PATTERN } from './rule-type.ts';

const REASON_LENGTH_MAX = 500;

const config = Type.Object(
  {
    prompt: Type.String({ minLength: 1, maxLength: 4_000, description: 'What the model is to look for.' }),
    tags: Type.Record(
      Type.String({ pattern: SLUG_PATTERN }),
      Type.String({ minLength: 1, maxLength: 500, description: 'When the tag is to be assigned.' }),
      { minProperties: 1, maxProperties: 20, additionalProperties: false, description: 'Tags that it may assign.' },
    ),
  },
  { additionalProperties: false, title: 'LlmConfig' },
);
type LlmConfig = Static<typeof config>;

/** AI rules: a question to a model, and the tags that the model may answer with. */
export const llm: ModelType<'llm', LlmConfig> = {
  type: 'llm',
  config,
  targets: RULE_TARGETS,
  issues: () => [],
  source: 'model',
  tags: ({ tags = {} }) => tags,
  match: async (ask, rule, slugs, evidence, signal) => {
    const shown = partFor(rule.target, evidence);
    if (!saysSomething(shown) || slugs.length === 0) return { outcome: 'answered', answer: [] };
    return ask(questionOf(rule, slugs), shown, signal);
  },
};

/** The screenshot is that of the first page; of the creative if there is no page. */
function partFor(target: RuleTarget, evidence: ModelEvidence): ModelEvidence {
  const { pages, screenshot } = evidence;
  const isOfPage = pages.length > 0;
  if (target === 'page') return { ...evidence, creative: null, screenshot: isOfPage ? screenshot : null };
  return target === 'creative' ? { ...evidence, pages: [], screenshot: isOfPage ? null : screenshot } : evidence;
}

type AskedRule = { name: string; target: RuleTarget; config: LlmConfig };

/** The rule as a question. An answer with a tag that the question does not offer is unusable. */
function questionOf({ name, config: { prompt, tags: meanings }, target }: AskedRule, slugs: string[]) {
  const list = slugs.map((slug) => `${slug}: ${meanings[slug]}`).join('\n');
  const schema = Type.Object(
    {
      tags: Type.Array(
        Type.Object(
          { slug: Type.Enum(slugs, { type: 'string' }), reason: Type.String() },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  );
  const question: Question<Finding[]> = {
    name: 'rule',
    task: `Decide for the rule ${JSON.stringify(name)} which of these tags apply; often none does. Give a short reason for each.
What the rule asks: ${prompt}
Tags, each with when it applies:
${list}`,
    schema,
    read: (answer) => {
      const { tags } = answer as Static<typeof schema>;
      const bySlug = new Map(tags.map(({ slug, reason }) => [slug as string, reason]));
      return [...bySlug].map(([tag_slug, reason]): Finding => {
        const detail = `Rule "${name}": ${reason.slice(0, REASON_LENGTH_MAX).toWellFormed()}`;
        return { tag_slug, detail, url: '', surface: target === 'creative' ? 'creative' : 'page' };
      });
    },
  };
  return question;
}
