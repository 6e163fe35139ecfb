import { setImmediate } from 'node:timers/promises';

/** Work that has blocked the event loop for this long yields. */
const SLICE_MS = 10;

/** A time slice for long work on the event loop: call `pause` where the work may be interrupted; it yields once the slice is used up. */
export function startTimeSlice(): { pause(): Promise<void> } {
  let since = performance.now();
  return {
    async pause(): Promise<void> {
      if (performance.now() - since < SLICE_MS) return;
      await setImmediate();
      since = performance.now();
    },
  };
}
