import { CODE, refusal } from '../refusals.ts';

/** The time that a search or count may take, without that of other work between its steps: option `maxTimeMS`. */
export type TimeLimit = { within<T>(step: () => T): T };

/** `maxTimeMS` 0 or absent: no limit. Throws the server's MaxTimeMSExpired (code 50) at the first step after it. */
export function timeLimitOf(maxTimeMS = 0): TimeLimit {
  if (maxTimeMS === 0) return { within: (step) => step() };
  let used = 0;
  return {
    within(step) {
      const began = performance.now();
      const result = step();
      used += performance.now() - began;
      if (used > maxTimeMS) throw refusal(CODE.maxTimeExpired, 'operation exceeded time limit');
      return result;
    },
  };
}
