import { availableParallelism, loadavg } from 'node:os';

const LOAD_FACTOR_MAX = 2;
/** Bounds of a capture older than this are no longer extended: a page that never comes to rest must not get more time at every step. */
const EXTENDED_UNTIL_MS = 30_000;
const MEASURED_MS = 1_000;

/**
 * An upper bound in ms, extended while more processes are runnable than there are cores: waiting for a condition must not end early because
 * another capture is busy. A condition that is met takes no longer. `startedAt`: when the capture began, by `performance.now()`.
 */
export const underLoad = ({ startedAt }: { startedAt: number }, ms: number): number =>
  extendedBound(ms, currentLoadFactor(), performance.now() - startedAt);

let measured = { at: Number.NEGATIVE_INFINITY, loadFactor: 1 };

/** The load factor of this machine, at most a second old: a capture asks dozens of times, and each measurement reads files of the system. */
function currentLoadFactor(): number {
  const now = performance.now();
  if (now - measured.at >= MEASURED_MS)
    measured = { at: now, loadFactor: loadFactor(loadavg()[0] ?? 0, availableParallelism()) };
  return measured.loadFactor;
}

/** The factor by which upper bounds are extended at a load average of `load` (runnable processes, over one minute). Pure. */
export const loadFactor = (load: number, cores: number): number => Math.min(LOAD_FACTOR_MAX, Math.max(1, load / cores));

/** A bound of `ms`, extended by `factor` as far as the age `ageMs` of its capture allows. Pure. */
export const extendedBound = (ms: number, factor: number, ageMs: number): number =>
  Math.max(ms, Math.min(ms * factor, EXTENDED_UNTIL_MS - ageMs));
