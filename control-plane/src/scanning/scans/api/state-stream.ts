import { Readable } from 'node:stream';
import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import type { ScanState } from '../../../scan/scan-state.ts';

/** Calls `receive` with each change of a scan's state until `stop` is called. Some may be missing. */
export type WatchScan = (scanId: string, receive: (state: ScanState) => void) => Promise<{ stop: () => void }>;

/** At this interval a comment keeps the connection open, and the state is read again in case a change was missed. */
const HEARTBEAT_MS = 15_000;
/** The interval at which a stream verifies that its caller's key is still valid. */
const CALLER_CHECK_MS = 500;

/**
 * The states of one scan as an event stream (HTML standard, section 9.2). States that arrive after a later one are
 * dropped.
 */
class StateStream extends Readable {
  #last = -1;
  #isOver = false;

  override _read(): void {}

  send(state: ScanState): void {
    if (this.#isOver || state.sequence <= this.#last) return;
    this.#last = state.sequence;
    const { sequence, ...fields } = state;
    this.push(`id: ${sequence}\nevent: state\ndata: ${JSON.stringify(fields)}\n\n`);
    if (isFinal(state.status)) this.end();
  }

  comment(): void {
    if (!this.#isOver) this.push(': \n\n');
  }

  end(): void {
    if (!this.#isOver) this.push(null);
    this.#isOver = true;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#isOver = true;
    done(error);
  }
}

/**
 * Streams the states of a scan: the current one first, then each change, until a final one. `read` returns the current
 * state, null if the scan was removed; `isAllowed` returns false once the caller may no longer read it; `closing` ends
 * the stream. The caller must read or destroy it.
 */
export async function openStateStream(
  scanId: string,
  watch: WatchScan,
  read: () => Promise<ScanState | null>,
  isAllowed: () => Promise<boolean>,
  closing: AbortSignal,
): Promise<Readable> {
  const stream = new StateStream();
  const end = () => stream.end();
  const sendCurrent = async () => {
    const current = await read();
    if (current) stream.send(current);
    else end();
  };
  // The subscription starts before the current state is read, so that no change in between is missed.
  const watching = await watch(scanId, (state) => stream.send(state));
  const timer = setInterval(() => {
    stream.comment();
    void sendCurrent().catch(() => undefined);
  }, HEARTBEAT_MS);
  // While the store is unavailable, the stream stays open.
  const verifyCaller = () =>
    isAllowed()
      .then((allowed) => allowed || end())
      .catch(() => undefined);
  const verification = setInterval(verifyCaller, CALLER_CHECK_MS);
  closing.addEventListener('abort', end, { once: true });
  stream.once('close', () => {
    watching.stop();
    clearInterval(timer);
    clearInterval(verification);
    closing.removeEventListener('abort', end);
  });
  await sendCurrent().catch((error: unknown) => {
    stream.destroy();
    throw error;
  });
  if (closing.aborted) end();
  return stream;
}
