import { availableParallelism, loadavg } from 'node:os';

const STRETCH_MAX = 2;
/** Bounds of a capture older than this no longer grow: a page that never comes to rest must not be given more time at every step. */
const STRETCHED_UNTIL_MS = 30_000;
const MEASURED_MS = 1_000;

/**
 * An upper bound in ms, longer while the machine has more to run than it has cores: what waits for a condition must not give up because
 * a neighbour is busy. Nothing that meets its condition takes longer. `startedAt`: when the capture began, by `performance.now()`.
 */
export const underLoad = ({ startedAt }: { startedAt: number }, ms: number): number =>
  stretched(ms, machineStretch(), performance.now() - startedAt);

let measured = { at: Number.NEGATIVE_INFINITY, stretch: 1 };

/** The stretch of this machine, as it was at most a second ago: a capture asks dozens of times, and each look reads files of the system. */
function machineStretch(): number {
  const now = performance.now();
  if (now - measured.at >= MEASURED_MS)
    measured = { at: now, stretch: stretch(loadavg()[0] ?? 0, availableParallelism()) };
  return measured.stretch;
}

/** By how much upper bounds grow at a load average of `load` (runnable processes, over one minute) on so many cores. Pure. */
export const stretch = (load: number, cores: number): number => Math.min(STRETCH_MAX, Math.max(1, load / cores));

/** A bound of `ms` that may grow by `factor` in a capture that began `ageMs` ago. Pure. */
export const stretched = (ms: number, factor: number, ageMs: number): number =>
  Math.max(ms, Math.min(ms * factor, STRETCHED_UNTIL_MS - ageMs));
