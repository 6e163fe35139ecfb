import { type Static, Type } from 'typebox';
import type { Finding } from '../detectors/finding.ts';
import { type ModelEvidence, saysSomething } from '../model/model-evidence.ts';
import type { AskModel, Question, Verdict } from '../model/question.ts';
import type { Rule, RuleTarget } from './rule.ts';

export type LlmRule = Extract<Rule, { rule_type: 'llm' }>;

const REASON_LENGTH_MAX = 500;

/**
 * Asks a model for the tags of a rule, of those in `slugs`, on what the rule looks at; nothing to look at has none. Rejects only where
 * `signal` ends it.
 */
export async function askRule(
  ask: AskModel,
  rule: LlmRule,
  slugs: string[],
  evidence: ModelEvidence,
  signal: AbortSignal,
): Promise<Verdict<Finding[]>> {
  const shown = partFor(rule.target, evidence);
  if (!saysSomething(shown) || slugs.length === 0) return { outcome: 'answered', answer: [] };
  return ask(ruleQuestion(rule, slugs), shown, signal);
}

function partFor(target: RuleTarget, evidence: ModelEvidence): ModelEvidence {
  if (target === 'page') return { ...evidence, creative: null };
  return target === 'creative' ? { ...evidence, pages: [], screenshot: null } : evidence;
}

/** The question that a rule is. A tag that it does not offer makes an answer unusable. */
function ruleQuestion({ name, config, target }: LlmRule, slugs: string[]): Question<Finding[]> {
  const list = slugs.map((slug) => `${slug}: ${config.tags[slug]}`).join('\n');
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
  return {
    name: 'rule',
    task: `Decide for the rule ${JSON.stringify(name)} which of these tags apply; often none does. Give a short reason for each.
What the rule asks: ${config.prompt}
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
}
