import type { RoleName } from '../config.ts';
import type { Domain } from '../domain.ts';
import type { Loop } from '../platform/start-loop.ts';
import type { Domains } from './domains.ts';
import type { Need } from './readiness.ts';

/** What a process must reach to do the work of a role. What the role does is in `routes` and `loops` of the domains. */
const NEEDS: Record<RoleName, readonly Need[]> = {
  /** Serves clients and readers of public reports. */
  api: ['store', 'redis', 'catalogue'],
  /** Serves browser nodes, on a port of its own: leases, uploads, captures. */
  'node-api': ['store', 'disk', 'files', 'redis'],
  /** Analyses captures and finishes crawled scans. */
  checks: ['store', 'files'],
  /** Carries out outbox entries (charges, refunds, events), and releases unused reservations. */
  relay: ['store'],
  /** Sends events to webhook endpoints, and messages about alerts to destinations. */
  dispatcher: ['store'],
  /** Ends the attempts of nodes that are gone. */
  reaper: ['store', 'redis'],
  /** Rebuilds the index of work in Redis from the store, and counts it. */
  refill: ['store', 'redis'],
  /** Fires the schedules of campaigns, and creates the scans of runs. */
  scheduler: ['store', 'catalogue'],
  /** Removes what has expired, what has exceeded its retention, and what nothing refers to. */
  sweeper: ['store'],
  /** Starts and removes browser nodes, if it is switched on. */
  scaler: ['store', 'redis'],
};

/** What these roles need together. */
export const needsOf = (roles: Iterable<RoleName>): Set<Need> => new Set([...roles].flatMap((role) => NEEDS[role]));

/** Starts the loops that the domains have for these roles. */
export async function startLoops(domains: Domains, roles: Iterable<RoleName>): Promise<Loop[]> {
  const all: Pick<Domain, 'loops'>[] = Object.values(domains);
  const starts = [...roles].flatMap((role) => all.flatMap(({ loops }) => loops[role] ?? []));
  const started = await Promise.all(starts.map((start) => start()));
  return started.flat();
}
