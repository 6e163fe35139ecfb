import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 10;
/** Looking costs whatever is looked at: the longer it takes, the more seldom. */
const PAUSE_GROWTH = 1.2;
const PAUSE_MAX_MS = 200;

/** What `probe` finds, as soon as that is neither false, null nor undefined; an error that names `what` after `seconds`. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  seconds = 20,
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + seconds * 1000;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, PAUSE_MAX_MS)) {
    const found = await probe();
    if (found !== false && found !== null && found !== undefined) return found as Exclude<T, false | null | undefined>;
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await pause(pauseMs);
  }
}
