import type { Logger } from '@adsweep/shared/service/logger.ts';
import { createWakeSignal, type WakeSignal } from './wake-signal.ts';

/** A running loop. `stop` resolves when the turn under way has ended. */
export type Loop = { stop(): Promise<void> };

/** `turn` answers true when there is more to do at once; `everyMs` is the pause otherwise, which `wake` ends early. */
export type LoopPlan = {
  name: string;
  everyMs: number;
  turn: () => Promise<unknown>;
  wake?: WakeSignal | undefined;
};

/** The longest delay before a failed turn is retried. */
const RETRY_WITHIN_MS = 1_000;

/**
 * Takes turns until it is stopped. A turn that throws is tried again after the pause, or a second; the log says so when an outage begins and when
 * it is over, not at every turn.
 */
export function startLoop(logger: Logger, { name, everyMs, turn, wake = createWakeSignal() }: LoopPlan): Loop {
  const stopping = new AbortController();
  let failing = false;

  const takeTurn = async (): Promise<boolean> => {
    try {
      const more = (await turn()) === true;
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
      const hasMore = await takeTurn();
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
