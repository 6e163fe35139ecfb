/**
 * Makes calls share runs of `run`: each call is answered by a run that began after it, and calls that arrive while one is under way share
 * the next. A run that rejects rejects for those who waited for it alone.
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
