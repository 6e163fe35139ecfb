import { Readable } from 'node:stream';
import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import type { ScanState } from '../../../scan/scan-state.ts';

/** Calls `receive` with each change of a scan's state until `stop` is called. Some may be missing. */
export type WatchScan = (scanId: string, receive: (state: ScanState) => void) => Promise<{ stop: () => void }>;

/** Each so often a comment keeps the connection open, and the state is read again, in case that a change was missed. */
const HEARTBEAT_MS = 15_000;
/** How often a stream asks whether its caller is still let in. */
const CALLER_CHECK_MS = 500;

/** States of one scan as an event stream (HTML standard, section 9.2). What arrives late, out of its order, is left out. */
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
 * The states of a scan: the present one first, then each change, until a final one. `read` answers the present state, null when the scan
 * is gone; `isAllowed` answers false once the caller may not read it any more; `closing` ends the stream. Whoever opens it reads or destroys it.
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
  const sendPresent = async () => {
    const present = await read();
    if (present) stream.send(present);
    else end();
  };
  // What changes while the present state is read is not missed: it was listened for already.
  const watching = await watch(scanId, (state) => stream.send(state));
  const timer = setInterval(() => {
    stream.comment();
    void sendPresent().catch(() => undefined);
  }, HEARTBEAT_MS);
  // While the store does not answer, the stream goes on as it was.
  const check = () =>
    isAllowed()
      .then((allowed) => allowed || end())
      .catch(() => undefined);
  const checks = setInterval(check, CALLER_CHECK_MS);
  closing.addEventListener('abort', end, { once: true });
  stream.once('close', () => {
    watching.stop();
    clearInterval(timer);
    clearInterval(checks);
    closing.removeEventListener('abort', end);
  });
  await sendPresent().catch((error: unknown) => {
    stream.destroy();
    throw error;
  });
  if (closing.aborted) end();
  return stream;
}
