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

/** All requests of a capture whose record does not contain all of them. The control plane writes this file; nodes cannot upload it. */
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

/** The large parts of a capture, stored outside its record: documents, and for a day all requests and response bodies (spec 8). */
export type BodyStore = ReturnType<typeof bodyStore>;

export function bodyStore(artifacts: ScanningDomain['stores']['artifacts']) {
  return {
    /** Stores all requests of a capture whose record does not contain all of them. */
    async writeRequests(ref: AttemptRef, requests: NetworkRequest[], now: Date): Promise<void> {
      await artifacts.write(ref, REQUESTS, await zip(JSON.stringify(requests)), BODY_LIFETIME_MS, now);
    },

    /** Reads parts in their stored form (gzipped JSON; HTML: UTF-8), to be unpacked in another thread; null: it does not exist. */
    async packed<P extends StoredPart>(ref: AttemptRef, parts: readonly P[]): Promise<Record<P, Buffer | null>> {
      const files = await artifacts.findAll(ref);
      const read = async (part: P): Promise<[P, Buffer | null]> => {
        const stream = await files.get(NAMES[part])?.read();
        return [part, stream ? await buffer(stream) : null];
      };
      return Object.fromEntries(await Promise.all(parts.map(read))) as Record<P, Buffer | null>;
    },
    unpackedBytesMax: UNZIPPED_BYTES_MAX,
  };
}
