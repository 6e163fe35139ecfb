/**
 * Makes calls share runs of `run`: each call gets the result of a run that began after it, and calls during a run share
 * the next one. A run that rejects does so only for its own callers.
 */
export function coalesce(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<unknown> | null = null;
  let next: Promise<void> | null = null;

  const begin = (): Promise<void> => {
    next = null;
    const ran = run();
    const ended = ran
      .catch(() => undefined)
      .then(() => {
        if (running === ended) running = null;
      });
    running = ended;
    return ran;
  };
  return () => {
    next ??= Promise.resolve(running).then(begin);
    return next;
  };
}
