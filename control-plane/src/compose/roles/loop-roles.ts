import type { RoleName } from '../../config.ts';
import type { Loop } from '../../platform/start-loop.ts';
import type { Domains } from '../domains.ts';
import type { Need } from '../readiness.ts';

/** A part of the control plane's work that a process may do or leave to others: what it requires, and the loops it runs. */
export type LoopRole = { needs: readonly Need[]; start(domains: Domains): Loop[] };

/** The roles that consist only of loops. The other two, `api` and `node-api`, serve requests. */
export const LOOP_ROLES: Record<Exclude<RoleName, 'api' | 'node-api'>, LoopRole> = {
  /** Analyses captures and finishes crawled scans. */
  checks: { needs: ['store'], start: ({ analysis }) => analysis.loops.checks() },
  /** Carries out outbox entries (charges, refunds, events), and releases unused reservations. */
  relay: {
    needs: ['store'],
    start: ({ delivery, accounts, scanning }) => [
      ...delivery.loops.relay(),
      ...accounts.loops.relay(scanning.scans.countOf),
    ],
  },
  /** Ends the attempts of nodes that are gone. */
  reaper: { needs: ['store', 'redis'], start: ({ crawling }) => crawling.loops.reaper() },
  /** Rebuilds the index of work in Redis from the store, and counts it. */
  refill: { needs: ['store', 'redis'], start: ({ crawling }) => crawling.loops.refill() },
  /** Removes what has expired, what has exceeded its retention, and what nothing refers to. */
  sweeper: {
    needs: ['store'],
    start: ({ scanning, crawling }) => [...scanning.loops.sweeper(), ...crawling.loops.sweeper()],
  },
};
