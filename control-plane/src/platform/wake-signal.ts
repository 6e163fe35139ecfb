/** Calls kept for those who were about to wait when it was raised; one too many costs one look for nothing. */
const KEPT_MAX = 64;

/** Tells others of this process that there is something to do, so that they need not poll for it. */
export type WakeSignal = {
  /** Wakes the one who has waited longest. */
  raise(): void;
  /** Wakes up to `count` of those who wait; where nobody does, the next one to wait looks once. */
  wakeWaiting(count: number): void;
  /** Resolves when raised, after `ms`, or when `stop` is aborted. */
  wait(ms: number, stop?: AbortSignal): Promise<void>;
};

/** A signal that nobody has raised yet. */
export function createWakeSignal(): WakeSignal {
  const waiting = new Set<() => void>();
  let kept = 0;

  const waitForRaise = (ms: number, stop: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        waiting.delete(done);
        stop?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      waiting.add(done);
      stop?.addEventListener('abort', done);
    });

  return {
    raise() {
      const [longest] = waiting;
      if (longest) longest();
      else kept = Math.min(kept + 1, KEPT_MAX);
    },
    wakeWaiting(count) {
      if (waiting.size === 0) kept = Math.max(kept, 1);
      for (const done of [...waiting].slice(0, count)) done();
    },
    async wait(ms, stop) {
      if (stop?.aborted) return;
      if (kept === 0) return waitForRaise(ms, stop);
      kept -= 1;
    },
  };
}
