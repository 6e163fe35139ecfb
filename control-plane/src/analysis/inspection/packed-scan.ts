import { gunzipSync } from 'node:zlib';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { validObservations } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence, Need } from '../detectors/evidence.ts';
import type { InspectedScan } from './inspect.ts';

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
