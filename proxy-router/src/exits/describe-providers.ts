import type { ExitHealth, ExitState } from './exit-health.ts';
import type { ExitSource } from './exit-source.ts';

/** How a provider stands: its exits by state (an account counts as one), its places and when they were last verified. */
export type ProviderStatus = {
  provider: string;
  exits: Partial<Record<ExitState, number>>;
  places: number;
  refreshedAt: Date | null;
};

/** How each provider stands at `now`, Unix milliseconds. */
export function describeProviders(source: ExitSource, health: ExitHealth, now: number): ProviderStatus[] {
  return source.providers().map(({ provider, exitIds, places, refreshedAt }) => {
    const exits: ProviderStatus['exits'] = {};
    for (const id of exitIds) {
      const state = health.state({ id }, now);
      exits[state] = (exits[state] ?? 0) + 1;
    }
    return { provider, exits, places, refreshedAt };
  });
}
