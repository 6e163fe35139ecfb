import { ARTIFACT_BYTES_MAX } from '@adsweep/shared/capture/artifacts.ts';
import type { CDPSession } from 'playwright-core';

type Collected = { chunks: Buffer[]; size: number; done: (bytes: Buffer) => void };

/**
 * Copies answers of unknown length while the page gets them as they come. An answer that is larger than may be kept, or that does not end,
 * is not kept.
 */
export class MediaCollector {
  readonly #session: CDPSession;
  /** By network request. */
  readonly #open = new Map<string, Collected>();

  constructor(session: CDPSession) {
    this.#session = session;
    session.on('Network.dataReceived', ({ requestId, data }) => this.#add(requestId, data ?? ''));
    session.on('Network.loadingFinished', ({ requestId }) => this.#finish(requestId));
    session.on('Network.loadingFailed', ({ requestId }) => this.#open.delete(requestId));
  }

  /**
   * Copies an answer of which nothing has reached the page yet; `done` gets it once it is whole. Rejects where the browser does not hand it
   * out.
   */
  async collect(requestId: string, done: (bytes: Buffer) => void): Promise<void> {
    this.#open.set(requestId, { chunks: [], size: 0, done });
    await this.#session.send('Network.streamResourceContent', { requestId });
  }

  #add(requestId: string, data: string): void {
    const collected = this.#open.get(requestId);
    if (!collected || data === '') return;
    const bytes = Buffer.from(data, 'base64');
    collected.chunks.push(bytes);
    collected.size += bytes.length;
    if (collected.size > ARTIFACT_BYTES_MAX) this.#open.delete(requestId);
  }

  #finish(requestId: string): void {
    const collected = this.#open.get(requestId);
    this.#open.delete(requestId);
    if (collected && collected.size > 0) collected.done(Buffer.concat(collected.chunks));
  }
}
