import type { Observation } from '@adsweep/shared/capture/observation.ts';

/** A fact that should be a number; 0 where a node says something else. */
export function numberFact({ facts }: Observation, name: string): number {
  const fact = facts[name];
  return typeof fact === 'number' && Number.isFinite(fact) ? fact : 0;
}

/** A fact that should be a text; '' where a node says something else. */
export function textFact({ facts }: Observation, name: string): string {
  const fact = facts[name];
  return typeof fact === 'string' ? fact : '';
}
