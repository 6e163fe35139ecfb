import { validObservations } from '@adsweep/shared/capture/observations/index.ts';
import { attemptOf } from '../../crawling/captures/capture-record.ts';
import type { ReadCapture, ReadContents } from '../../crawling/captures/read-capture.ts';
import type { ScanRecord } from '../../scanning/scans/state/scan.ts';
import type { Evidence, Need } from '../detectors/evidence.ts';

/** Where the evidence of a scan is. */
export type EvidenceSources = {
  readCapture: ReadCapture;
  bodies: ReadContents;
};

/** A scan's evidence: its capture, and of the large parts those that are needed. null: the capture is gone. */
export async function loadEvidence(
  { readCapture, bodies }: EvidenceSources,
  scan: ScanRecord,
  needs: ReadonlySet<Need>,
): Promise<Evidence | null> {
  const record = await readCapture(scan);
  if (!record) return null;
  const { landings, requests, creative = null, vast = null, exit } = record.capture;
  const observations = validObservations(record.capture.observations);
  const attempt = attemptOf(record._id);
  const [all, documents, contents, vastDocuments] = await Promise.all([
    needs.has('requests') ? bodies.requestsOf(attempt) : null,
    needs.has('documents') ? bodies.documentsOf(attempt) : null,
    needs.has('bodies') ? bodies.bodiesOf(attempt) : null,
    needs.has('vastDocuments') && vast ? bodies.vastDocumentsOf(attempt) : null,
  ]);
  return {
    landings,
    creative,
    exit,
    observations,
    vast,
    requests: all ?? requests,
    documents: documents ?? [],
    bodies: contents ?? [],
    vastDocuments: vastDocuments ?? [],
  };
}
