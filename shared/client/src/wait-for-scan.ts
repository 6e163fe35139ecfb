import { AdsweepError } from './adsweep-error.ts';
import type { components } from './generated/api.ts';
import { PASSING, pause } from './send-patiently.ts';

type Scan = components['schemas']['Scan'];

/** A state of a scan. */
export type ScanState = Pick<Scan, 'id' | 'status' | 'retry_attempt'>;

export type WaitOptions = {
  signal?: AbortSignal;
  /** Called with each state that the scan is seen in. */
  onState?: (state: ScanState) => void;
};

/** The two questions that waiting asks. */
export type Watched = {
  getScan: (id: string, query: undefined, options: { signal?: AbortSignal }) => Promise<Scan>;
  getScanEvents: (id: string, query: undefined, options: { signal?: AbortSignal }) => AsyncIterable<ScanState>;
};

const FINAL: readonly Scan['status'][] = ['completed', 'partial', 'failed', 'cancelled'];
const [POLL_MS, POLL_GROWTH, POLL_MAX_MS] = [1_000, 1.5, 10_000];
/** How long waiting goes on without an answer of the API, such as while it restarts. */
const UNANSWERED_MAX_MS = 5 * 60_000;

const longer = (pauseMs: number): number => Math.min(pauseMs * POLL_GROWTH, POLL_MAX_MS);

export const isFinal = ({ status }: ScanState): boolean => FINAL.includes(status);

/**
 * Resolves to an answer about something that is waited for and was there before: asked again while the API cannot be reached or cannot serve it, for
 * some minutes. Rejects with the last error, or with the signal's reason.
 */
export async function untilAnswered<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const until = performance.now() + UNANSWERED_MAX_MS;
  for (let pauseMs = POLL_MS; ; pauseMs = longer(pauseMs)) {
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      const isRefused = error instanceof AdsweepError && error.status !== 429 && !PASSING.has(error.status);
      if (isRefused || performance.now() >= until) throw error;
    }
    await pause(pauseMs, signal);
  }
}

/**
 * Resolves to a scan when it has ended. Follows its stream of events; where that breaks, as behind a proxy that cuts it, it asks every few
 * seconds. Rejects with an `AdsweepError` if the scan cannot be read, or with the signal's reason.
 */
export async function waitForScan(api: Watched, id: string, { onState, ...options }: WaitOptions = {}): Promise<Scan> {
  let isKnown = false;
  try {
    for await (const state of api.getScanEvents(id, undefined, options)) {
      isKnown = true;
      onState?.(state);
      if (isFinal(state)) return await api.getScan(id, undefined, options);
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    // The scan itself is refused: polling would be too.
    if (error instanceof AdsweepError && [401, 403, 404].includes(error.status)) throw error;
  }
  const ask = () => api.getScan(id, undefined, options);
  for (let pauseMs = POLL_MS; ; pauseMs = longer(pauseMs)) {
    const scan = await (isKnown ? untilAnswered(ask, options.signal) : ask());
    isKnown = true;
    onState?.(scan);
    if (isFinal(scan)) return scan;
    await pause(pauseMs, options.signal);
  }
}
