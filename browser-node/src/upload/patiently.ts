import { setTimeout as pause } from 'node:timers/promises';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';

/** How long a call is tried again while the control plane is away, and the pauses in between. */
export type Patience = { forMs: number; firstPauseMs: number; lastPauseMs: number };
export const PATIENCE: Patience = { forMs: 60_000, firstPauseMs: 250, lastPauseMs: 5_000 };

const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Whether the same call may succeed a little later: nobody answered, or the control plane is in trouble. */
export const isPassing = (error: unknown): boolean => !(error instanceof NodeApiError) || PASSING.has(error.status);

/** The control plane says that the lease is not ours any more. */
export const isLost = (error: unknown): boolean =>
  error instanceof NodeApiError && [401, 403, 404, 409, 410].includes(error.status);

/** Calls until it is answered for good, `signal` is aborted, or patience is at an end; throws the last error then. */
export async function patiently<T>(call: () => Promise<T>, signal: AbortSignal, patience = PATIENCE): Promise<T> {
  const until = Date.now() + patience.forMs;
  for (let pauseMs = patience.firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, patience.lastPauseMs)) {
    try {
      signal.throwIfAborted();
      return await call();
    } catch (error) {
      if (signal.aborted || !isPassing(error) || Date.now() + pauseMs > until) throw error;
      // Half of it at random: nodes that lost the control plane together do not come back together.
      await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }
}
