import type { Logger } from '@adsweep/shared/service/logger.ts';
import { createWakeSignal, type WakeSignal } from './wake-signal.ts';

/** A running loop. `stop` resolves when the current step has ended. */
export type Loop = { stop(): Promise<void> };

/**
 * `step` returns true if it must run again at once. Otherwise the loop pauses for `everyMs`, or until `wake` is raised.
 */
export type LoopPlan = {
  name: string;
  everyMs: number;
  step: () => Promise<unknown>;
  wake?: WakeSignal | undefined;
};

/** The longest pause after a failed step. */
const RETRY_WITHIN_MS = 1_000;

/**
 * Repeats a step until the loop is stopped. A step that throws is retried after the pause, at most a second. The first
 * failure and the recovery are logged, not every failure in between.
 */
export function startLoop(logger: Logger, { name, everyMs, step, wake = createWakeSignal() }: LoopPlan): Loop {
  const stopping = new AbortController();
  let failing = false;

  const runStep = async (): Promise<boolean> => {
    try {
      const more = (await step()) === true;
      if (failing) logger.info({ loop: name }, 'a loop has recovered');
      failing = false;
      return more;
    } catch (cause) {
      if (!failing) logger.warn({ loop: name, cause }, 'a loop is failing');
      failing = true;
      return false;
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      const hasMore = await runStep();
      if (!hasMore) await wake.wait(failing ? Math.min(everyMs, RETRY_WITHIN_MS) : everyMs, stopping.signal);
    }
  };

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
