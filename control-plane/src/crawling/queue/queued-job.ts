import type { Band } from './keys.ts';

/** A leased job: `fence` grows with every lease that is given in a shard. */
export type LeaseRef = { jobId: string; fence: number; organizationId: string };

/** A job's place in the queue. `delayMs` keeps it back, for a retry; below 0: it has been due for so long, and stands before later ones. */
export type WaitingJob = { jobId: string; organizationId: string; band: Band; delayMs: number };

/** How many leases an organization may have at once; null: as many as there are slots. */
export type LeaseCapOf = (organizationId: string) => Promise<number | null>;
