import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

/** What `probe` finds, as soon as that is neither false, null nor undefined; an error that names `what` after `seconds`. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  seconds = 20,
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const found = await probe();
    if (found !== false && found !== null && found !== undefined) return found as Exclude<T, false | null | undefined>;
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await pause(LOOK_EVERY_MS);
  }
}
