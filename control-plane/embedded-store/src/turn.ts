import { setImmediate } from 'node:timers/promises';

/** Work that has held the event loop for so long lets others go first. */
const TURN_MS = 10;

/** Long work in one thread: `pause` is called wherever it may be interrupted, and waits when its turn has been long enough. */
export function startTurn(): { pause(): Promise<void> } {
  let since = performance.now();
  return {
    async pause(): Promise<void> {
      if (performance.now() - since < TURN_MS) return;
      await setImmediate();
      since = performance.now();
    },
  };
}
