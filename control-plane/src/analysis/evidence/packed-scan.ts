import { gunzipSync } from 'node:zlib';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { validObservations } from '@adsweep/shared/capture/observations/index.ts';
import { attemptOf, type ReadContents, type ReadPackedCapture } from '../../crawling/captures/capture-record.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { Evidence, Need } from './evidence.ts';

/** The properties of a scan that decide how its evidence is inspected. */
export type InspectedScan = { ignore_first_n_domains: number; referrer: string | null };

/**
 * A scan's evidence on its way to a thread, as it is stored: gzipped JSON, the creative's HTML as UTF-8. A part is null if it is not needed,
 * or not stored (any more).
 */
export type PackedScan = {
  scan: InspectedScan;
  capture: Uint8Array;
  parts: Record<Need, Uint8Array | null>;
  unpackedBytesMax: number;
};

/** Where the evidence of a scan is read. */
export type EvidenceSources = { readPackedCapture: ReadPackedCapture; bodies: ReadContents };

/** Reads a scan's capture and those of its parts that are needed; null: the capture is gone. */
export async function packScan(
  { readPackedCapture, bodies }: EvidenceSources,
  scan: ScanRecord,
  needs: ReadonlySet<Need>,
): Promise<PackedScan | null> {
  const capture = await readPackedCapture(scan);
  if (!capture || !scan.capture) return null;
  const attempt = attemptOf(scan.capture.id);
  const read = (need: Need, name: Parameters<ReadContents['packed']>[1]) =>
    needs.has(need) ? bodies.packed(attempt, name) : null;
  const [requests, documents, contents, vastDocuments, creativeHtml] = await Promise.all([
    read('requests', 'requests'),
    read('documents', 'documents'),
    read('bodies', 'bodies'),
    read('vastDocuments', 'vast_documents'),
    scan.target.kind === 'url' ? null : read('creativeHtml', 'creative_html'),
  ]);
  const { ignore_first_n_domains, referrer } = scan;
  return {
    scan: { ignore_first_n_domains, referrer },
    capture,
    parts: { requests, documents, bodies: contents, vastDocuments, creativeHtml },
    unpackedBytesMax: bodies.unpackedBytesMax,
  };
}

/** Unpacks evidence. Takes longer the larger it is: only for threads. */
export function unpackScan({ capture: packed, parts, unpackedBytesMax }: PackedScan): Evidence {
  const read = (bytes: Uint8Array | null) =>
    bytes && JSON.parse(gunzipSync(bytes, { maxOutputLength: unpackedBytesMax }).toString());
  const { landings, requests, creative = null, vast = null, exit, observations } = read(packed) as Capture;
  return {
    ...{ landings, creative, vast, exit, observations: validObservations(observations) },
    requests: read(parts.requests) ?? requests,
    documents: read(parts.documents) ?? [],
    bodies: read(parts.bodies) ?? [],
    vastDocuments: vast ? (read(parts.vastDocuments) ?? []) : [],
    creativeHtml: creative && parts.creativeHtml ? Buffer.from(parts.creativeHtml).toString() : '',
  };
}
