import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { CHILDREN_MAX } from './devtools.ts';

/**
 * Frames that a capture may start within 5 s while others share its browser. For a thousand of other sites,
 * Chromium's main thread needs 15 s, and all pages wait for it.
 */
export const FRAMES_AT_ONCE_MAX = 100;
/**
 * Sites whose documents the frames and popups of a capture may request within 5 s, likewise: each gets a process of its
 * own, which takes 0.1 s of CPU to start. Chromium starts it once the document's answer begins, so that many are seen
 * before.
 */
export const SITES_AT_ONCE_MAX = 25;
/**
 * Origins of these documents: a sandboxed frame, or one whose answer asks for it (`Origin-Agent-Cluster`,
 * `Document-Isolation-Policy`), gets a process for its origin.
 */
export const ORIGINS_AT_ONCE_MAX = 40;
/**
 * How many of these documents there may be. One that follows a document of another site in its frame counts twice:
 * frames that go to and fro between few sites start a process, and end one, each time.
 */
export const DOCUMENTS_AT_ONCE_MAX = 60;
/** A burst of frames takes so long on a busy machine. */
const BURST_MS = 5_000;

type Place = { site: string; origin: string };

/** Tells when a page starts more frames, or processes for their documents, than pages of others can wait for. */
export class FrameBurst {
  #since = 0;
  #frames = 0;
  /** Where each document is from, by the id of its request: the place of its last redirect. */
  readonly #documents = new Map<string, Place>();
  /** The site of the last document of each frame, and how many followed one of another. */
  readonly #sites = new Map<string, string>();
  #moves = 0;
  /** How many were requested in all. */
  #requested = 0;
  #isOver = false;

  /** A frame started, at `now` (`performance.now()`). true: with it a burst exceeds its bounds, once for each burst. */
  started(now: number): boolean {
    this.#begin(now);
    this.#frames += 1;
    return this.#exceeds();
  }

  /**
   * A frame or popup requested a document, or its request was redirected, which keeps its id; the same answer. Of
   * documents that come one by one, a capture may have as many in all as frames.
   */
  requested(requestId: string, frameId: string, url: string, now: number): boolean {
    this.#begin(now);
    const site = registrableDomain(url);
    if (site === '') return false;
    if (!this.#documents.has(requestId)) {
      this.#requested += 1;
      if ((this.#sites.get(frameId) ?? site) !== site) this.#moves += 1;
    }
    this.#documents.set(requestId, { site, origin: URL.parse(url)?.origin ?? '' });
    this.#sites.set(frameId, site);
    return this.#exceeds();
  }

  #begin(now: number): void {
    if (now - this.#since <= BURST_MS) return;
    this.#since = now;
    this.#frames = 0;
    this.#documents.clear();
    this.#sites.clear();
    this.#moves = 0;
    this.#isOver = false;
  }

  #exceeds(): boolean {
    if (this.#isOver) return false;
    const places = [...this.#documents.values()];
    this.#isOver =
      this.#frames > FRAMES_AT_ONCE_MAX ||
      this.#requested > CHILDREN_MAX ||
      places.length + this.#moves > DOCUMENTS_AT_ONCE_MAX ||
      new Set(places.map(({ site }) => site)).size > SITES_AT_ONCE_MAX ||
      new Set(places.map(({ origin }) => origin)).size > ORIGINS_AT_ONCE_MAX;
    return this.#isOver;
  }
}
