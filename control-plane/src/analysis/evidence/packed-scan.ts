import { gunzipSync } from 'node:zlib';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { validObservations } from '@adsweep/shared/capture/observations/index.ts';
import type { ReadContents, ReadPackedCapture } from '../../crawling/captures/capture-record.ts';
import { attemptOf } from '../../crawling/captures/capture-record.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { Evidence, Need } from './evidence.ts';

/** The properties of a scan that decide how its evidence is inspected. */
export type InspectedScan = { ignore_first_n_domains: number; referrer: string | null };

/** A scan's evidence as it travels to a thread: gzipped JSON; null: there is none (any more), or none is needed. */
export type PackedScan = {
  scan: InspectedScan;
  capture: Uint8Array;
  parts: Record<Need, Uint8Array | null>;
  unpackedBytesMax: number;
};

/** Unpacks evidence. Takes as long as it is large: for threads that nobody waits for. */
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
  };
}

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
