import { type LandingSeen, landingSeen } from '../changes/landing-seen.ts';
import { type Classified, classify, type OwnNames } from '../classification/classify.ts';
import { detectors as allDetectors, detect } from '../detectors/detect.ts';
import type { Detector, Finding } from '../detectors/detector.ts';
import type { Evidence, Need } from '../evidence/evidence.ts';
import { missingEvidence } from '../evidence/missing-evidence.ts';
import type { InspectedScan } from '../evidence/packed-scan.ts';
import { type RuleInputs, ruleInputs } from '../rules/evaluation/run-rules.ts';
import { runWithin } from './run-within.ts';

/**
 * What detectors and the classification made of a scan's evidence. `names` null: the classification failed. `failed`:
 * analysers that threw or timed out, and parts of the evidence that could not be read.
 */
export type Inspection = RuleInputs & {
  findings: Finding[];
  names: OwnNames | null;
  /** The way to the landing, without skipped domains; null: there is none. */
  landing: LandingSeen | null;
  failed: { name: string; cause: string }[];
  /** What the capture lacks that judgements rest on, in words. */
  lacking: string[];
};

/** A scan's evidence as it was captured, and without the domains that the scan skips. */
export type InspectedEvidence = { captured: Evidence; judged: Evidence };

/** Time limit of one detector, and of the classification, in ms. */
const ANALYSER_MS = 5_000;

/** Runs all detectors over evidence and classifies it. Pure. An analyser that fails loses only its own result. */
export function inspect(
  evidence: InspectedEvidence,
  scan: InspectedScan,
  detectors: Detector<Need>[] = allDetectors,
): Inspection {
  const { findings, failed } = detect(evidence.judged, detectors, (work) => runWithin(ANALYSER_MS, work));
  const classified = classifyWithin(evidence, scan);
  return {
    findings,
    names: classified.names,
    landing: landingSeen(evidence.judged.landings),
    failed: [...failed.map(({ name, cause }) => ({ name, cause: String(cause) })), ...classified.failed],
    lacking: missingEvidence(evidence.captured.notes),
    ...ruleInputs(evidence.judged),
  };
}

/** The classification is pure: one that fails or times out would do so again, so it is not repeated. */
function classifyWithin(
  { captured, judged }: InspectedEvidence,
  { referrer, ad_block }: InspectedScan,
): Pick<Inspection, 'names' | 'failed'> {
  const classified: Classified = {
    judged: judged.landings,
    captured: captured.landings,
    documents: judged.documents,
    creativeUrls: creativeUrls(captured),
    servedUrls: servedUrls(captured),
    publisher: referrer,
    pageUrl: captured.creative?.page_url ?? null,
    adBlock: ad_block ?? null,
  };
  try {
    return { names: runWithin(ANALYSER_MS, () => classify(classified)), failed: [] };
  } catch (cause) {
    return { names: null, failed: [{ name: 'classification', cause: String(cause) }] };
  }
}

/** The URLs of a creative: its redirect chain, then its requests. */
const creativeUrls = ({ creative, requests }: Evidence): string[] => [
  ...(creative?.redirect_chain ?? []).map(({ url }) => url),
  ...requests.filter(({ surface }) => surface === 'creative').map(({ url }) => url),
];

const SERVED_TYPES = new Set(['document', 'script']);

/** The URLs of what an ad server delivers: VAST documents, or the documents and scripts of the creative. */
const servedUrls = ({ vast, requests }: Evidence): string[] =>
  vast
    ? vast.rungs.map(({ requested_url }) => requested_url)
    : requests
        .filter(({ surface, resource_type }) => surface === 'creative' && SERVED_TYPES.has(resource_type.toLowerCase()))
        .map(({ url }) => url);
