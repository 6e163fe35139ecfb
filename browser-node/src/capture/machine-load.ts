import { availableParallelism, loadavg } from 'node:os';

const STRETCH_MAX = 3;

/**
 * An upper bound in ms, longer while the machine has more to run than it has cores: what waits for a condition must not give up because
 * a neighbour is busy. Nothing that meets its condition takes longer.
 */
export const underLoad = (ms: number): number => ms * stretch(loadavg()[0] ?? 0, availableParallelism());

/** By how much upper bounds grow at a load average of `load` (runnable processes, over one minute) on so many cores. Pure. */
export const stretch = (load: number, cores: number): number => Math.min(STRETCH_MAX, Math.max(1, load / cores));
