import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/**
 * Frames that a capture may start within 5 s while others share its browser. For a thousand of other sites,
 * Chromium's main thread needs 15 s, and all pages wait for it.
 */
export const FRAMES_AT_ONCE_MAX = 100;
/**
 * Sites whose documents the frames of a capture may request within 5 s, likewise: each gets a process of its own, which
 * takes 0.1 s of CPU to start. Chromium starts it once the document's answer begins, so that many are seen before.
 */
export const FRAME_SITES_AT_ONCE_MAX = 25;
/** A burst of frames takes so long on a busy machine. */
const BURST_MS = 5_000;

/** Tells when a page starts more frames at once than pages of others can wait for. */
export class FrameBurst {
  #since = 0;
  #frames = 0;
  /** The site of each document, by the id of its request: that of its last redirect. */
  readonly #sites = new Map<string, string>();
  #isOver = false;

  /** A frame started, at `now` (`performance.now()`). true: with it a burst exceeds its bounds, once for each burst. */
  started(now: number): boolean {
    this.#begin(now);
    this.#frames += 1;
    return this.#exceeds();
  }

  /** A frame requested a document, or its request was redirected, which keeps its id; the same answer. */
  requested(requestId: string, url: string, now: number): boolean {
    this.#begin(now);
    const site = registrableDomain(url);
    if (site !== '') this.#sites.set(requestId, site);
    return this.#exceeds();
  }

  #begin(now: number): void {
    if (now - this.#since <= BURST_MS) return;
    this.#since = now;
    this.#frames = 0;
    this.#sites.clear();
    this.#isOver = false;
  }

  #exceeds(): boolean {
    if (this.#isOver) return false;
    this.#isOver = this.#frames > FRAMES_AT_ONCE_MAX || new Set(this.#sites.values()).size > FRAME_SITES_AT_ONCE_MAX;
    return this.#isOver;
  }
}
