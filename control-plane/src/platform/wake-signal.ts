/** Maximum number of raises that are kept for later waits. A superfluous one costs an unnecessary poll. */
const KEPT_MAX = 64;

/** Notifies waiting loops of this process that there is work. */
export type WakeSignal = {
  /** Wakes the longest-waiting caller; if none waits, returns false, and the next wait ends at once. */
  raise(): boolean;
  /** Wakes up to `count` waiting callers; returns how many. */
  wakeWaiting(count: number): number;
  /** Number of waiting callers. */
  waiting(): number;
  /** Resolves when raised, after `ms`, or when `stop` is aborted. */
  wait(ms: number, stop?: AbortSignal): Promise<void>;
};

/** A new signal. `keptMax` 1: for callers that find all work with one poll. */
export function createWakeSignal(keptMax = KEPT_MAX): WakeSignal {
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
      else kept = Math.min(kept + 1, keptMax);
      return longest !== undefined;
    },
    wakeWaiting(count) {
      const woken = [...waiting].slice(0, count);
      for (const done of woken) done();
      return woken.length;
    },
    waiting: () => waiting.size,
    async wait(ms, stop) {
      if (stop?.aborted) return;
      if (kept === 0) return waitForRaise(ms, stop);
      kept -= 1;
    },
  };
}
