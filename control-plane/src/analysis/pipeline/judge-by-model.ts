import type { ScanRecord } from '../../scanning/scans/state/scan.ts';
import { classificationQuestion, type ModelClassification } from '../classification/classification-question.ts';
import type { Finding } from '../detectors/finding.ts';
import { type ModelEvidence, saysSomething } from '../model/model-evidence.ts';
import type { AskModel } from '../model/question.ts';

/** What a model said of a scan; `missing` names the verdicts that it did not give. */
export type ModelJudgement = { classification: ModelClassification; findings: Finding[]; missing: string[] };

/** Judges a scan by a model. Rejects only where `signal` ends it. */
export type JudgeByModel = (scan: ScanRecord, evidence: ModelEvidence, signal: AbortSignal) => Promise<ModelJudgement>;

export const NOT_CLASSIFIED: ModelClassification = { ai_category: null, iab_v3: null };

/** Where there is nothing to look at, no verdict is missing. */
export function judgeByModel(ask: AskModel): JudgeByModel {
  return async (_scan, evidence, signal) => {
    if (!saysSomething(evidence)) return { classification: NOT_CLASSIFIED, findings: [], missing: [] };
    const verdict = await ask(classificationQuestion, evidence, signal);
    if (verdict.outcome === 'answered') return { classification: verdict.answer, findings: [], missing: [] };
    const findings = verdict.outcome === 'refused' ? [REFUSED] : [];
    return { classification: NOT_CLASSIFIED, findings, missing: [`ai_verdict (${verdict.outcome})`] };
  };
}

/** Spec 2.5: the model's safety filter did not let it process the landing. */
const REFUSED: Finding = {
  tag_slug: 'ai_prohibited_content',
  detail: 'The AI model refused to process the content.',
  url: '',
  surface: 'page',
};
