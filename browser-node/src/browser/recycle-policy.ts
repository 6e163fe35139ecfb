import { MINUTE_MS } from '@adsweep/shared/durations.ts';

/** When a browser must be replaced; `memoryGrowth` as a multiple of its idle memory. */
export type RecycleLimits = { contexts: number; ageMs: number; memoryGrowth: number };
export const RECYCLE_LIMITS: RecycleLimits = { contexts: 300, ageMs: 30 * MINUTE_MS, memoryGrowth: 2 };
/** For a browser that cannot be replaced. */
export const UNLIMITED: RecycleLimits = { contexts: Infinity, ageMs: Infinity, memoryGrowth: Infinity };

/** The usage of a browser so far; memory of its long-lived processes in bytes, null = not known. */
export type BrowserUsage = {
  broken: boolean;
  /** One context keeps it for itself. */
  reserved: boolean;
  contexts: number;
  ageMs: number;
  idleMemory: number | null;
  memory: number | null;
};

const RECYCLE_REASONS = ['broken', 'isolated', 'contexts', 'age', 'memory'] as const;
export type RecycleReason = (typeof RECYCLE_REASONS)[number];

/** Why a browser starts: it is the first, it replaces one, or a context needs its own or keeps one (`isolated`). */
export const LAUNCH_REASONS = ['first', ...RECYCLE_REASONS] as const;
export type LaunchReason = (typeof LAUNCH_REASONS)[number];

/** Why a browser must not get another context; null = it may. */
export function recycleReason(usage: BrowserUsage, limits: RecycleLimits): RecycleReason | null {
  if (usage.broken) return 'broken';
  if (usage.reserved) return 'isolated';
  if (usage.contexts >= limits.contexts) return 'contexts';
  if (usage.ageMs >= limits.ageMs) return 'age';
  if (usage.idleMemory && usage.memory && usage.memory > usage.idleMemory * limits.memoryGrowth) return 'memory';
  return null;
}
