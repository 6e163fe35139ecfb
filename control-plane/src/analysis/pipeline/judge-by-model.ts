import type { Label } from '../../accounts/organizations/organization.ts';
import { hiddenAmong, inService, type ReadTags, type Tags } from '../../reference/tags/tag-definitions.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { sentLabels } from '../../scan/sent-labels.ts';
import {
  classificationQuestion,
  type ModelAnswer,
  type ModelClassification,
} from '../classification/classification-question.ts';
import type { Finding } from '../detectors/detector.ts';
import { type ModelEvidence, saysSomething } from '../model/model-evidence.ts';
import type { AskModel, Verdict } from '../model/question.ts';
import { rulesInService } from '../rules/evaluation/evaluate-rules.ts';
import { isKnown, isModelRule, type ModelRule, type RuleRecord, ruleOf, slugsAssignedBy } from '../rules/rule.ts';
import { RULE_TYPES } from '../rules/rule-types/index.ts';
import type { TaxonomyRecord } from '../taxonomies/taxonomy.ts';

/** A model's judgement of a scan: `labels` by key; `missing`: names of the questions without an answer. */
export type ModelJudgement = ModelAnswer & { findings: Finding[]; missing: string[] };

/** Classifies a scan with a model. Rejects only when `signal` is aborted. */
export type JudgeByModel = (scan: ScanRecord, evidence: ModelEvidence, signal: AbortSignal) => Promise<ModelJudgement>;

export type ModelJudgeParts = {
  ask: AskModel;
  readRules: (organizationId: string) => Promise<RuleRecord[]>;
  readTags: ReadTags;
  readTaxonomies: (organizationId: string) => Promise<TaxonomyRecord[]>;
  labelsOf: (organizationId: string) => Promise<Label[]>;
};

const NOT_CLASSIFIED: ModelClassification = { ai_category: null, iab_v3: null, custom_taxonomies: [] };
const NO_ANSWER: ModelAnswer = { classification: NOT_CLASSIFIED, labels: {} };

/** The judgement of a scan that no model was asked about. */
export const NO_JUDGEMENT: ModelJudgement = { ...NO_ANSWER, findings: [], missing: [] };

/**
 * Asks for the classification and evaluates each AI rule, all concurrently. If there is nothing to look at, no answer
 * counts as missing.
 */
export function judgeByModel({ ask, readRules, readTags, readTaxonomies, labelsOf }: ModelJudgeParts): JudgeByModel {
  return async (scan, evidence, signal) => {
    if (!saysSomething(evidence)) return NO_JUDGEMENT;
    const { organization_id } = scan;
    const [records, tags, taxonomies, labels] = await Promise.all([
      readRules(organization_id),
      readTags(organization_id),
      readTaxonomies(organization_id),
      labelsOf(organization_id),
    ]);
    const rules = modelRulesOf(records, tags);
    const hidden = new Set(hiddenAmong(tags));
    const nameOf = (rule: ModelRule) =>
      isKnown(rule, hidden) ? `AI rule "${rule.name}"` : 'an AI rule of the platform';
    const askOne = (rule: ModelRule) =>
      RULE_TYPES[rule.rule_type].match(ask, rule, slugsInService(rule, tags), evidence, signal);
    const [classified, ...byRules] = await Promise.all([
      ask(classificationQuestion(taxonomies, labelsToExtract(scan, labels)), evidence, signal),
      ...rules.map(askOne),
    ]);
    return {
      ...(classified.outcome === 'answered' ? classified.answer : NO_ANSWER),
      findings: [...refusal([classified, ...byRules]), ...byRules.flatMap(answerOf)],
      missing: [
        ...missing('ai_verdict', classified),
        ...byRules.flatMap((verdict, at) => missing(nameOf(rules[at]!), verdict)),
      ],
    };
  };
}

/** What a client sent with its scan is never overwritten. */
const labelsToExtract = (scan: ScanRecord, labels: Label[]): Label[] =>
  labels.filter(({ key, auto_extract }) => auto_extract === true && !Object.hasOwn(sentLabels(scan), key));

const modelRulesOf = (records: RuleRecord[], tags: Tags): ModelRule[] =>
  rulesInService(records.filter(({ is_active }) => is_active).map(ruleOf), tags).filter(isModelRule);

const slugsInService = (rule: ModelRule, tags: Tags): string[] =>
  slugsAssignedBy(rule).filter((slug) => inService(tags, slug) !== null);

const answerOf = (verdict: Verdict<Finding[]>): Finding[] => (verdict.outcome === 'answered' ? verdict.answer : []);

const missing = (name: string, { outcome }: Verdict<unknown>): string[] =>
  outcome === 'answered' ? [] : [`${name} (${outcome})`];

/** Spec 2.5: the model's safety filter did not let it process the landing. */
function refusal(verdicts: Verdict<unknown>[]): Finding[] {
  if (verdicts.every(({ outcome }) => outcome !== 'refused')) return [];
  const detail = 'The AI model refused to process the content.';
  return [{ tag_slug: 'ai_prohibited_content', detail, url: '', surface: 'page' }];
}
