/** When a browser has served enough. */
export const CONTEXTS_MAX = 300;
export const AGE_MAX_MS = 30 * 60_000;
export const MEMORY_GROWTH_MAX = 2;

/** What a browser has been through; memory in bytes of its lasting processes, null = not known. */
export type Wear = {
  broken: boolean;
  contexts: number;
  ageMs: number;
  idleMemory: number | null;
  memory: number | null;
};

export const WEAR_REASONS = ['broken', 'contexts', 'age', 'memory'] as const;
export type WearReason = (typeof WEAR_REASONS)[number];

/** Why a browser must not get another context; null = it may. */
export function wearReason({ broken, contexts, ageMs, idleMemory, memory }: Wear): WearReason | null {
  if (broken) return 'broken';
  if (contexts >= CONTEXTS_MAX) return 'contexts';
  if (ageMs >= AGE_MAX_MS) return 'age';
  if (idleMemory && memory && memory > idleMemory * MEMORY_GROWTH_MAX) return 'memory';
  return null;
}
