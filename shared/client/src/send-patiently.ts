import { readBody } from './read-body.ts';

/** How requests are sent. */
export type Patience = {
  fetch: (request: Request) => Promise<Response>;
  /** How often a request is sent again, unless it asks for a stream. */
  retries: number;
  /** How long an answer may take; of a stream, its beginning. */
  timeoutMs: number;
};

/** Problems that may have passed when the request is sent again: of the network, of a proxy, of a server that restarts. */
export const PASSING: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);
const [PAUSE_MS, PAUSE_MAX_MS] = [500, 8_000];
/** A server that asks for a longer pause than this refuses the request for now. */
const ASKED_PAUSE_MAX_MS = 120_000;

/**
 * Sends a request, and again after a pause if that is safe and may help. Resolves to the last answer, of whatever status; rejects with the
 * reason of the request's signal, a `TimeoutError`, or the error of `fetch`.
 */
export async function sendPatiently(request: Request, patience: Patience): Promise<Response> {
  // The caller of a stream falls back to polling when it is refused.
  const retries = isStream(request) ? 0 : patience.retries;
  for (let tries = 0; ; tries += 1) {
    // Nothing is sent for a caller who has given up already: it might create something.
    request.signal.throwIfAborted();
    const outcome = await sendOnce(request.clone(), patience).catch((error: unknown) => ({ error }));
    request.signal.throwIfAborted();
    const pauseMs = tries < retries ? pauseBeforeRetry(request, outcome, tries) : null;
    if (pauseMs !== null) await pause(pauseMs, request.signal);
    else if ('error' in outcome) throw outcome.error;
    else return outcome;
  }
}

/** How long to wait before the request is sent again; null: it must not be, or it would not help. Pure, except for the jitter. */
export function pauseBeforeRetry(
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  outcome: Pick<Response, 'status' | 'headers'> | { error: unknown },
  tries: number,
): number | null {
  const backoffMs = Math.min(PAUSE_MS * 2 ** tries, PAUSE_MAX_MS) * (0.5 + Math.random() / 2);
  // A POST without a key may have created something before its answer was lost.
  const isRepeatable = method !== 'POST' || headers.has('Idempotency-Key');
  if ('error' in outcome) return isRepeatable ? backoffMs : null;
  const askedMs = retryAfterMs(outcome.headers, Date.now());
  // 429: nothing was done. 409 with a pause: the first request with this Idempotency-Key is still running.
  const refusedForNow = outcome.status === 429 || (outcome.status === 409 && askedMs > 0);
  if (!refusedForNow && !(isRepeatable && PASSING.has(outcome.status))) return null;
  return askedMs > ASKED_PAUSE_MAX_MS ? null : Math.max(askedMs, backoffMs);
}

/** `Retry-After` (RFC 9110, section 10.2.3), seconds or a date; 0: none. */
function retryAfterMs(headers: Headers, now: number): number {
  const asked = headers.get('Retry-After') ?? '';
  const ms = /^\d+$/.test(asked) ? Number(asked) * 1_000 : Date.parse(asked) - now;
  return ms > 0 ? ms : 0;
}

const isStream = ({ headers }: Request): boolean => headers.get('Accept') === 'text/event-stream';

/** One try. The body is read here, so that the timeout and the next try cover it too; a stream's is left to its reader. */
async function sendOnce(request: Request, { fetch, timeoutMs }: Patience): Promise<Response> {
  const giveUp = new AbortController();
  const { signal } = giveUp;
  const late = () => giveUp.abort(new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError'));
  const timer = setTimeout(late, timeoutMs);
  const abort = () => giveUp.abort(request.signal.reason);
  request.signal.addEventListener('abort', abort);
  try {
    const sent = new Request(request, { signal });
    const response = await fetch(sent);
    const { body, status, statusText, headers } = response;
    // That `sent` is needed here keeps it from being collected as garbage while its answer is waited for, which would cut its signal off.
    if (body === null || (isStream(sent) && response.ok)) return response;
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    for await (const piece of readBody(body, { signal })) pieces.push(piece);
    return new Response(new Blob(pieces), { status, statusText, headers });
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', abort);
  }
}

/** Resolves after a time; rejects with the signal's reason when it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
