import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { BODY_LIFETIME_MS } from '@adsweep/shared/limits.ts';
import type { AttemptRef } from '../artifacts/artifact.ts';
import type { FarmArtifacts } from '../artifacts/farm-artifacts.ts';
import { UNZIPPED_BYTES_MAX } from '../artifacts/inspect-artifact.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** Every request that a capture saw; ours, so that no node can upload one. */
const REQUESTS = 'requests.json.gz';

/** What is kept of a capture for a day alone (spec 8): all its requests. The contents of its sub-resources are artifacts. */
export type BodyStore = ReturnType<typeof bodyStore>;

export function bodyStore(artifacts: FarmArtifacts) {
  return {
    /** Stores all requests of a capture, also those that are not stored with the scan. */
    async writeRequests(ref: AttemptRef, requests: NetworkRequest[], now: Date): Promise<void> {
      await artifacts.write(ref, REQUESTS, await zip(JSON.stringify(requests)), BODY_LIFETIME_MS, now);
    },

    /** All requests of a capture in their order, or null after a day. */
    async requestsOf(ref: AttemptRef): Promise<NetworkRequest[] | null> {
      const stored = await artifacts.open(ref, REQUESTS);
      if (!stored) return null;
      const text = await unzip(await buffer(stored.stream), { maxOutputLength: UNZIPPED_BYTES_MAX });
      return JSON.parse(text.toString()) as NetworkRequest[];
    },
  };
}
