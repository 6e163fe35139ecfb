import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BODIES, type CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import { BODIES_BYTES_MAX, BODIES_MAX, BODY_BYTES_MAX } from '@adsweep/shared/limits.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { FairList } from '../session/fair-list.ts';
import type { Finished } from '../session/network-journal.ts';
import type { Collector } from './collector.ts';

const KINDS = new Set(['script', 'xhr', 'fetch', 'document']);

/** Contents of scripts, fetch and XHR responses and frames' documents, fetched as each arrives; of an oversized one, only the URL (spec 8). */
export const contents: Collector = {
  name: 'contents',
  start(capture) {
    const store = new BodyStore();
    capture.journal.onFinished((finished) => store.take(finished));
    return async (draft) => {
      const bodies = await store.bodies();
      draft.bodies = bodies;
      if (bodies.length === 0) return;
      const bytes = await promisify(gzip)(JSON.stringify(bodies), { level: 3 });
      draft.files.push({ name: BODIES, contentType: 'application/gzip', bytes, width: 0, height: 0 });
    };
  },
};

/** Fetches contents, within the limits on number and size. */
class BodyStore {
  readonly #bodies = new FairList<CapturedBody>(BODIES_MAX);
  readonly #fetching = new Set<Promise<void>>();
  #leftBytes = BODIES_BYTES_MAX;

  take({ entry, session, requestId }: Finished): void {
    // The collector of documents keeps the tab's own document as it was rendered.
    if (!KINDS.has(entry.resourceType) || entry.hop) return;
    const body: CapturedBody = {
      url: entry.url,
      resource_type: entry.resourceType,
      content_type: entry.contentType,
      bytes: entry.bodySize,
      text: null,
    };
    const left = this.#bodies.add(body, registrableDomain(entry.url));
    if (left === body) return;
    if (left?.text) this.#leftBytes += left.bytes;
    if (entry.bodySize === 0 || entry.bodySize > Math.min(BODY_BYTES_MAX, this.#leftBytes)) return;
    this.#leftBytes -= entry.bodySize;
    const fetching = this.#fetch(body, session, requestId).finally(() => this.#fetching.delete(fetching));
    this.#fetching.add(fetching);
  }

  async bodies(): Promise<CapturedBody[]> {
    await Promise.all(this.#fetching);
    return [...this.#bodies];
  }

  async #fetch(body: CapturedBody, session: Finished['session'], requestId: string): Promise<void> {
    // The contents of a target that was closed are lost: only the URL is kept.
    const answer = await session.send('Network.getResponseBody', { requestId }, COMMAND_MS).catch(() => null);
    if (!answer) return;
    const text = answer.base64Encoded ? Buffer.from(answer.body, 'base64').toString('utf8') : answer.body;
    if (Buffer.byteLength(text) <= BODY_BYTES_MAX) body.text = text.toWellFormed();
  }
}
