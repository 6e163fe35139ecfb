import type { RoleName } from '../../config.ts';
import type { Loop } from '../../platform/start-loop.ts';
import type { Domains } from '../domains.ts';
import type { Need } from '../readiness.ts';

/** A part of the control plane's work that a process may do or leave to others: what it cannot work without, and the loops it runs. */
export type LoopRole = { needs: readonly Need[]; start(domains: Domains): Loop[] };

/** The roles that are loops alone. The other two, `api` and `node-api`, answer requests. */
export const LOOP_ROLES: Record<Exclude<RoleName, 'api' | 'node-api'>, LoopRole> = {
  /** Judges captures and brings crawled scans to their end. */
  checks: { needs: ['store'], start: ({ analysis }) => analysis.loops.checks() },
  /** Carries out what follows changes of records: charges, refunds, events; and releases what was reserved and never used. */
  relay: {
    needs: ['store'],
    start: ({ delivery, accounts, scanning }) => [
      ...delivery.loops.relay(),
      ...accounts.loops.relay(scanning.scans.countOf),
    ],
  },
  /** Ends the attempts of nodes that are gone. */
  reaper: { needs: ['store', 'redis'], start: ({ crawling }) => crawling.loops.reaper() },
  /** Makes the index of work in Redis what the store says, and counts it. */
  refill: { needs: ['store', 'redis'], start: ({ crawling }) => crawling.loops.refill() },
  /** Removes what has expired, what is older than it is kept, and what nothing refers to. */
  sweeper: {
    needs: ['store'],
    start: ({ scanning, crawling }) => [...scanning.loops.sweeper(), ...crawling.loops.sweeper()],
  },
};
