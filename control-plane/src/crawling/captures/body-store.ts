import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { BODIES, type CapturedBody } from '@adsweep/shared/capture/artifacts/bodies.ts';
import { CREATIVE_HTML } from '@adsweep/shared/capture/artifacts/creative-html.ts';
import { type CapturedDocument, DOCUMENTS } from '@adsweep/shared/capture/artifacts/documents.ts';
import { type CapturedVastDocument, VAST_DOCUMENTS } from '@adsweep/shared/capture/artifacts/vast-documents.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { BODY_LIFETIME_MS } from '@adsweep/shared/limits.ts';
import type { AttemptRef } from '../../scanning/artifacts/artifact.ts';
import { UNZIPPED_BYTES_MAX } from '../../scanning/artifacts/inspect-artifact.ts';
import type { InternalArtifacts } from '../../scanning/artifacts/internal-artifacts.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** Every request that a capture saw; ours, so that no node can upload one. */
const REQUESTS = 'requests.json.gz';

const NAMES = { requests: REQUESTS, documents: DOCUMENTS, bodies: BODIES, creative_html: CREATIVE_HTML };

/** The large parts of a capture, apart from its record: all requests and the contents of sub-resources for a day (spec 8), documents. */
export type BodyStore = ReturnType<typeof bodyStore>;

export function bodyStore(artifacts: InternalArtifacts) {
  const readPacked = async (ref: AttemptRef, name: string): Promise<Buffer | null> => {
    const stored = await artifacts.open(ref, name);
    return stored && buffer(stored.stream);
  };
  const read = async <T>(ref: AttemptRef, name: string): Promise<T[] | null> => {
    const packed = await readPacked(ref, name);
    if (!packed) return null;
    const text = await unzip(packed, { maxOutputLength: UNZIPPED_BYTES_MAX });
    return JSON.parse(text.toString()) as T[];
  };

  return {
    /** Stores all requests of a capture, also those that are not stored with the scan. */
    async writeRequests(ref: AttemptRef, requests: NetworkRequest[], now: Date): Promise<void> {
      await artifacts.write(ref, REQUESTS, await zip(JSON.stringify(requests)), BODY_LIFETIME_MS, now);
    },

    /** All requests of a capture in their order, or null after a day. */
    requestsOf: (ref: AttemptRef) => read<NetworkRequest>(ref, REQUESTS),

    /** What the landings and their frames said and showed; null where the capture has none. */
    documentsOf: (ref: AttemptRef) => read<CapturedDocument>(ref, DOCUMENTS),

    /** The documents of a VAST tag; null where the capture has none. */
    vastDocumentsOf: (ref: AttemptRef) => read<CapturedVastDocument>(ref, VAST_DOCUMENTS),

    /** Contents of sub-resources, or null after a day. */
    bodiesOf: (ref: AttemptRef) => read<CapturedBody>(ref, BODIES),

    /** One of these parts as it is stored (gzipped JSON; markup: UTF-8), for whoever unpacks it elsewhere. */
    packed: (ref: AttemptRef, part: keyof typeof NAMES) => readPacked(ref, NAMES[part]),
    unpackedBytesMax: UNZIPPED_BYTES_MAX,
  };
}
