import type { ReadContents } from '../../crawling/captures/capture-record.ts';
import { attemptOf } from '../../crawling/captures/capture-record.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { PictureOf } from '../../scanning/artifacts/artifact.ts';
import { type ModelEvidence, type ModelSubject, modelEvidence } from './model-evidence.ts';

/** What is asked for beside the evidence of a scan: stored markup, and a picture in a bearable size (null: there is none). */
export type ShowParts = {
  bodies: Pick<ReadContents, 'packed'>;
  pictureOf: ((scan: ScanRecord, of: PictureOf) => Promise<Buffer | null>) | null;
};

/** Prepares what a model is shown of a scan: `judged` without the domains that the scan skips, its creative's markup, its picture. */
export type ShowModel = (scan: ScanRecord, judged: ModelSubject) => Promise<ModelEvidence>;

export function showModel({ bodies, pictureOf }: ShowParts): ShowModel {
  return async (scan, judged) => {
    const pictured = judged.landings[0]?.ord ?? (judged.creative ? 'creative' : null);
    const [markup, picture] = await Promise.all([
      judged.creative && scan.capture ? bodies.packed(attemptOf(scan.capture.id), 'creative_html') : null,
      pictureOf && pictured !== null ? pictureOf(scan, pictured) : null,
    ]);
    return modelEvidence(judged, markup?.toString() ?? '', picture);
  };
}
