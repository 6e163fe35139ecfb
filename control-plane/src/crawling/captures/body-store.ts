import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BODIES, CREATIVE_HTML, DOCUMENTS, VAST_DOCUMENTS } from '@adsweep/shared/capture/artifacts.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { BODY_LIFETIME_MS } from '@adsweep/shared/limits.ts';
import type { AttemptRef } from '../../scanning/artifacts/artifact.ts';
import { UNZIPPED_BYTES_MAX } from '../../scanning/artifacts/inspect-artifact.ts';
import type { ScanningDomain } from '../../scanning/scanning.ts';

const zip = promisify(gzip);

/**
 * All requests of a capture whose record does not contain all of them. The control plane writes this file; nodes cannot
 * upload it.
 */
const REQUESTS = 'requests.json.gz';

const NAMES = {
  requests: REQUESTS,
  documents: DOCUMENTS,
  bodies: BODIES,
  creative_html: CREATIVE_HTML,
  vast_documents: VAST_DOCUMENTS,
};

/** A large part of a capture. */
export type StoredPart = keyof typeof NAMES;

/** A part as it is stored; null: there is none (any more); `lost`: it is recorded, and its file is gone. */
type PackedPart = Buffer | 'lost' | null;

/**
 * The large parts of a capture, stored outside its record: documents, and for a day all requests and response bodies
 * (spec 8).
 */
export type BodyStore = ReturnType<typeof bodyStore>;

export function bodyStore(artifacts: ScanningDomain['stores']['artifacts']) {
  return {
    /** Stores all requests of a capture whose record does not contain all of them. */
    async writeRequests(ref: AttemptRef, requests: NetworkRequest[], now: Date): Promise<void> {
      await artifacts.write(ref, REQUESTS, await zip(JSON.stringify(requests)), BODY_LIFETIME_MS, now);
    },

    /** Reads parts in their stored form (gzipped JSON; HTML: UTF-8), to be unpacked in another thread. */
    async packed<P extends StoredPart>(ref: AttemptRef, parts: readonly P[]): Promise<Record<P, PackedPart>> {
      const files = await artifacts.findAll(ref);
      const read = async (part: P): Promise<[P, PackedPart]> => {
        const file = files.get(NAMES[part]);
        const stream = await file?.read();
        if (stream) return [part, await buffer(stream)];
        // What has expired loses its record before its file.
        return [part, file && (await artifacts.find(ref, NAMES[part])) ? 'lost' : null];
      };
      return Object.fromEntries(await Promise.all(parts.map(read))) as Record<P, PackedPart>;
    },
    unpackedBytesMax: UNZIPPED_BYTES_MAX,
  };
}
