import type { CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import {
  BODIES_BYTES_MAX,
  BODIES_MAX,
  BODY_BYTES_MAX,
  EXCERPTED_BYTES_MAX,
  EXCERPTED_BYTES_SUM_MAX,
} from '@adsweep/shared/limits.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { FairList } from '../session/fair-list.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { Finished } from '../session/network-journal.ts';
import type { Collector, FetchedBody } from './collector.ts';
import { inlineScriptExcerpts, scriptExcerpts } from './script-excerpts.ts';

const KINDS = new Set(['script', 'xhr', 'fetch', 'document']);
/** Kinds of which excerpts are kept if the whole is too large. */
const EXCERPTED = new Set(['script', 'document']);

/**
 * Contents of scripts, fetch and XHR responses and frames' documents, fetched as each arrives; of an oversized one,
 * only the URL (spec 8).
 */
export const contents: Collector = {
  name: 'contents',
  start(capture) {
    const store = new BodyStore();
    capture.journal.onFinished((finished) => store.take(finished));
    return async (draft) => {
      const bodies = await store.bodies();
      const open = new Set(capture.devtools.sessions());
      const lost = store.lost.filter((session) => open.has(session)).length;
      if (lost > 0) capture.notes.push(note('contents', { count: lost }));
      const closed = store.lost.length - lost;
      if (closed > 0) capture.notes.push(note('contents_closed', { count: closed }));
      if (store.unread > 0) capture.notes.push(note('contents_beyond_limit', { count: store.unread }));
      draft.bodies = bodies;
    };
  },
};

/** Fetches contents, within the limits on number and size. */
class BodyStore {
  readonly #bodies = new FairList<FetchedBody>(BODIES_MAX);
  readonly #fetching = new Set<Promise<void>>();
  #leftBytes = BODIES_BYTES_MAX;
  #leftToExcerpt = EXCERPTED_BYTES_SUM_MAX;
  #unread = 0;
  /** For each kept body whose text could not be fetched, the session of its target. */
  readonly lost: Finished['session'][] = [];

  /** Scripts and documents that were too large, or too many, to be read. */
  get unread(): number {
    return this.#unread;
  }

  take(finished: Finished): void {
    const { entry } = finished;
    if (!KINDS.has(entry.resourceType) || entry.bodySize === 0) return;
    const { url, resourceType: resource_type, contentType: content_type, bodySize: bytes } = entry;
    const body: CapturedBody = { url, resource_type, content_type, bytes, text: null };
    // The collector of documents keeps the tab's own document as it was rendered: without scripts that removed
    // themselves.
    if (entry.hop) this.#excerpt(finished, body, () => this.#add(body, entry));
    else if (this.#add(body, entry)) this.#fetch(finished, body);
  }

  async bodies(): Promise<FetchedBody[]> {
    await Promise.all(this.#fetching);
    return [...this.#bodies];
  }

  /** Adds a body; returns whether it is kept, maybe in place of another one. */
  #add(body: CapturedBody, entry: Entry): boolean {
    const left = this.#bodies.add({ body, entry }, registrableDomain(body.url))?.body;
    if (left?.text) this.#leftBytes += left.bytes;
    return left !== body;
  }

  /** Keeps the text of a body, or its excerpts if it is too large. */
  #fetch(finished: Finished, body: CapturedBody): void {
    if (body.bytes > Math.min(BODY_BYTES_MAX, this.#leftBytes)) {
      this.#excerpt(finished, body);
      return;
    }
    this.#leftBytes -= body.bytes;
    const keep = (text: string) => {
      if (Buffer.byteLength(text) <= BODY_BYTES_MAX) body.text = text;
    };
    this.#read(finished, keep, () => {
      this.lost.push(finished.session);
    });
  }

  /** Keeps the excerpts of a script or document that is not kept as a whole; `found` is called if it has any. */
  #excerpt(finished: Finished, body: CapturedBody, found: () => void = () => undefined): void {
    if (!EXCERPTED.has(body.resource_type)) return;
    if (body.bytes > Math.min(EXCERPTED_BYTES_MAX, this.#leftToExcerpt)) {
      this.#unread += 1;
      return;
    }
    this.#leftToExcerpt -= body.bytes;
    this.#read(finished, (text) => {
      const excerpts = body.resource_type === 'document' ? inlineScriptExcerpts(text) : scriptExcerpts(text);
      if (excerpts === '') return;
      body.excerpts = excerpts;
      found();
    });
  }

  #read({ session, requestId }: Finished, keep: (text: string) => void, lost: () => void = () => undefined): void {
    const fetching = session
      .send('Network.getResponseBody', { requestId }, COMMAND_MS)
      .then(({ body, base64Encoded }) => {
        const text = base64Encoded ? Buffer.from(body, 'base64').toString('utf8') : body;
        keep(text.toWellFormed());
      })
      // The contents of a target that was closed are lost: only the URL is kept.
      .catch(lost)
      .finally(() => this.#fetching.delete(fetching));
    this.#fetching.add(fetching);
  }
}
