/** When a browser has served enough; `memoryGrowth` as a multiple of its idle memory. */
export type WearLimits = { contexts: number; ageMs: number; memoryGrowth: number };
export const WEAR_LIMITS: WearLimits = { contexts: 300, ageMs: 30 * 60_000, memoryGrowth: 2 };

/** What a browser has been through; memory in bytes of its lasting processes, null = not known. */
export type Wear = {
  broken: boolean;
  contexts: number;
  ageMs: number;
  idleMemory: number | null;
  memory: number | null;
};

const WEAR_REASONS = ['broken', 'contexts', 'age', 'memory'] as const;
export type WearReason = (typeof WEAR_REASONS)[number];

/** Why a browser starts: it is the first, the one before it is worn, or a context must not share one. */
export const LAUNCH_REASONS = ['first', ...WEAR_REASONS, 'isolated'] as const;
export type LaunchReason = (typeof LAUNCH_REASONS)[number];

/** Why a browser must not get another context; null = it may. */
export function wearReason(wear: Wear, limits: WearLimits): WearReason | null {
  if (wear.broken) return 'broken';
  if (wear.contexts >= limits.contexts) return 'contexts';
  if (wear.ageMs >= limits.ageMs) return 'age';
  if (wear.idleMemory && wear.memory && wear.memory > wear.idleMemory * limits.memoryGrowth) return 'memory';
  return null;
}
