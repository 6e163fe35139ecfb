import type { ExitHealth } from './exit-health.ts';
import type { ExitSource, OfferedProvider } from './exit-source.ts';
import type { ExitState } from './outages.ts';

/** The state of a provider: its exits by state (an account counts as one) and its places. */
export type ProviderStatus = Omit<OfferedProvider, 'exitIds'> & { exits: Partial<Record<ExitState, number>> };

/** The state of each provider as it is for all nodes at `now`, monotonic time in ms. */
export function describeProviders(source: ExitSource, health: ExitHealth, now: number): ProviderStatus[] {
  return source.providers().map(({ exitIds, ...offered }) => {
    const exits: ProviderStatus['exits'] = {};
    for (const id of exitIds) {
      const state = health.state({ id }, now);
      exits[state] = (exits[state] ?? 0) + 1;
    }
    return { ...offered, exits };
  });
}
