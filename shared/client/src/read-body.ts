export type BodyLimits = {
  /** Ends the body when it is aborted. */
  signal?: AbortSignal | undefined;
  /** How long the body may stay silent between two pieces. */
  silenceMaxMs?: number;
};

/**
 * The pieces of a body as they arrive, until it ends. Rejects with the signal's reason when that is aborted, or with a `TimeoutError` when the body
 * falls silent; the connection is closed then, and also when the reader stops early. The signal that a `Request` was made with is no substitute: where
 * nothing else refers to the `Request`, a garbage collection cuts the link between them, and a body that stops half-way stays open for ever.
 */
export async function* readBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { signal, silenceMaxMs }: BodyLimits,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const reader = body.getReader();
  let broken: { reason: unknown } | undefined;
  const end = (reason: unknown) => {
    broken ??= { reason };
    reader.cancel(reason).catch(() => {});
  };
  const abort = () => end(signal?.reason);
  const silence = () => end(new DOMException(`The answer fell silent for ${silenceMaxMs} ms`, 'TimeoutError'));
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    for (;;) {
      const timer = silenceMaxMs === undefined ? undefined : setTimeout(silence, silenceMaxMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (broken) throw broken.reason;
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    await reader.cancel().catch(() => {});
  }
}
