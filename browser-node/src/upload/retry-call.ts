import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { type RetryPolicy, retry } from '@adsweep/shared/service/retry.ts';

/** How long calls of the node API are retried while the control plane is unavailable. */
export const RETRY_POLICY: RetryPolicy = { forMs: 60_000, minMs: 250, maxMs: 5_000 };

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Whether the same call may succeed later: there was no response, or the control plane had an internal error. */
export const isRetryable = (error: unknown): boolean => !(error instanceof NodeApiError) || RETRYABLE.has(error.status);

/** Whether the response means that the lease is lost. */
export const isLost = (error: unknown): boolean =>
  error instanceof NodeApiError && [401, 403, 404, 409, 410].includes(error.status);

/** A call of the node API, retried as `policy` says; throws the last error, or what `signal` was aborted with. */
export const retryCall = <T>(call: () => Promise<T>, signal: AbortSignal, policy = RETRY_POLICY): Promise<T> =>
  retry(call, { policy, isRetryable, signal });
