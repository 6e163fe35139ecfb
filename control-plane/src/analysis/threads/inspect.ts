import { type Classified, classify, type OwnNames } from '../classification/classify.ts';
import { detectors as allDetectors, detect } from '../detectors/detect.ts';
import type { Detector } from '../detectors/detector.ts';
import type { Finding } from '../detectors/finding.ts';
import { type Evidence, type Need, withoutFirstDomains } from '../evidence/evidence.ts';
import type { InspectedScan } from '../evidence/packed-scan.ts';
import { type ModelSubject, modelSubject } from '../model/model-evidence.ts';
import { runWithin } from './run-within.ts';

/**
 * What the evidence of a scan shows. `names` null: it could not be classified; `failed`: why each judgement is missing that is. `links` are
 * what combos look at, `subject` is what a model may be shown.
 */
export type Inspection = {
  findings: Finding[];
  names: OwnNames | null;
  failed: { name: string; cause: string }[];
  links: string[];
  subject: ModelSubject;
};

/** The longest that one detector or classifier may take, in ms. */
const JUDGE_MS = 5_000;

/** Looks at evidence with all detectors and classifies it. Pure; a judgement that fails loses its own result alone. */
export function inspect(
  captured: Evidence,
  scan: InspectedScan,
  detectors: Detector<Need>[] = allDetectors,
): Inspection {
  const judged = withoutFirstDomains(captured, scan.ignore_first_n_domains);
  const { findings, failed } = detect(judged, detectors, (work) => runWithin(JUDGE_MS, work));
  const classified = classifyWithin({ captured, judged }, scan);
  return {
    findings,
    names: classified.names,
    failed: [...failed.map(({ name, cause }) => ({ name, cause: String(cause) })), ...classified.failed],
    links: judged.landings.flatMap(({ redirect_chain }) => redirect_chain.map(({ url }) => url)),
    subject: modelSubject(judged),
  };
}

/** Classifying is pure: what fails or takes too long once does so always, so that the judgement is missing. */
function classifyWithin(
  { captured, judged }: { captured: Evidence; judged: Evidence },
  { referrer }: InspectedScan,
): Pick<Inspection, 'names' | 'failed'> {
  const classified: Classified = {
    ...{ judged: judged.landings, captured: captured.landings, documents: judged.documents },
    ...{ creativeUrls: creativeUrls(captured), servedUrls: servedUrls(captured) },
    ...{ publisher: referrer, pageUrl: captured.creative?.page_url ?? null },
  };
  try {
    return { names: runWithin(JUDGE_MS, () => classify(classified)), failed: [] };
  } catch (cause) {
    return { names: null, failed: [{ name: 'classification', cause: String(cause) }] };
  }
}

/** What a creative is made of: its documents, then what was asked for by and around them. */
const creativeUrls = ({ creative, requests }: Evidence): string[] => [
  ...(creative?.redirect_chain ?? []).map(({ url }) => url),
  ...requests.filter(({ surface }) => surface === 'creative').map(({ url }) => url),
];

const SERVED_TYPES = new Set(['document', 'script']);

/** What an ad server answered with: VAST documents, or the documents and scripts of the creative. */
const servedUrls = ({ vast, requests }: Evidence): string[] =>
  vast
    ? vast.rungs.map(({ requested_url }) => requested_url)
    : requests
        .filter(({ surface, resource_type }) => surface === 'creative' && SERVED_TYPES.has(resource_type.toLowerCase()))
        .map(({ url }) => url);
