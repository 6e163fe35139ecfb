import { attemptOf } from '../../crawling/captures/capture-record.ts';
import type { ReadContents, ReadPackedCapture } from '../../crawling/captures/read-capture.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { PackedScan } from './packed-scan.ts';

/** Where the evidence of a scan is. */
export type EvidenceSources = {
  readPackedCapture: ReadPackedCapture;
  bodies: ReadContents;
};

/** A scan's evidence as it is stored: its capture and all large parts. null: the capture is gone. */
export async function packScan(
  { readPackedCapture, bodies }: EvidenceSources,
  scan: ScanRecord,
): Promise<PackedScan | null> {
  const capture = await readPackedCapture(scan);
  if (!capture || !scan.capture) return null;
  const attempt = attemptOf(scan.capture.id);
  const [requests, documents, contents, vastDocuments] = await Promise.all([
    bodies.packed(attempt, 'requests'),
    bodies.packed(attempt, 'documents'),
    bodies.packed(attempt, 'bodies'),
    bodies.packed(attempt, 'vast_documents'),
  ]);
  const { ignore_first_n_domains, referrer } = scan;
  return {
    scan: { ignore_first_n_domains, referrer },
    capture,
    parts: { requests, documents, bodies: contents, vastDocuments },
    unpackedBytesMax: bodies.unpackedBytesMax,
  };
}
