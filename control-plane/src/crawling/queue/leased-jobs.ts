import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import { queueScript } from './queue-script.ts';
import type { LeaseRef, PriorityClass, QueueShards, ShardKeys } from './queue-shards.ts';
import { promoteDue } from './waiting-jobs.ts';

/** Leases of a shard that one call reaps at most. */
export const REAPED_MAX = 200;

/**
 * The slot time that a job's organization is charged when it is leased; when it ends, this is corrected to the time
 * that it took.
 */
const CHARGED_MS = 5_000;

const acquire = queueScript('acquire', 'has-waiting-jobs', 'losses');
const [renew, adopt] = [queueScript('renew', 'losses'), queueScript('adopt')];
const end = queueScript('end', 'has-waiting-jobs', 'charge-slot-time', 'measure-job', 'losses');
const reap = queueScript('reap', 'has-waiting-jobs', 'charge-slot-time', 'losses');

/** Operations on leased jobs: how a lease starts, is renewed and ends. */
export function leasedJobs(shards: QueueShards) {
  const { redis, all, keysFor } = shards;
  const takeOnce = takeFromShards(shards);
  const takeOrFull = async (node: string, max: number, slots: number): Promise<LeaseRef[] | null> => {
    const taken = await takeOnce(node, max, slots);
    return taken?.length === 0 && (await promoteDue(shards)) > 0 ? takeOnce(node, max, slots) : taken;
  };

  return {
    /**
     * Leases up to `max` jobs to a node, which then has at most `slots` leases; of one that lost its last leases, or
     * released very many, at most one.
     */
    take: async (node: string, max: number, slots: number): Promise<LeaseRef[]> =>
      (await takeOrFull(node, max, slots)) ?? [],

    /** The same; null: whatever jobs there are, the node may have no more at the moment. */
    takeOrFull,

    /**
     * Extends a lease to its full duration; returns its age in ms, or null if the job is not leased under this fence.
     */
    async renew({ jobId, fence, organizationId }: LeaseRef): Promise<number | null> {
      const keys = keysFor(organizationId);
      const ageMs = await renew(
        redis,
        [keys.job(jobId), keys.leased, keys.lost],
        [jobId, fence, LEASE_MS, keys.prefix],
      );
      return Number(ageMs) || null;
    },

    /**
     * Leases the job to the node that has it according to MongoDB, for the full duration; false if the queue knows the
     * job already.
     */
    async adopt(
      { jobId, fence, organizationId }: LeaseRef,
      { priority, nodeId }: { priority: PriorityClass; nodeId: string },
    ): Promise<boolean> {
      const keys = keysFor(organizationId);
      const args = [jobId, organizationId, priority, fence, nodeId, LEASE_MS, keys.prefix];
      return (await adopt(redis, [keys.job(jobId), keys.leased, keys.fence], args)) === 1;
    },

    /**
     * Removes a leased job; false if it is not leased under this fence. `isReleased`: its node gave it back, without a
     * result.
     */
    async end({ jobId, fence, organizationId }: LeaseRef, isReleased = false): Promise<boolean> {
      const { job, leased, roundRobin, clock, caps, spent, means, lost, prefix } = keysFor(organizationId);
      const keys = [job(jobId), leased, roundRobin, clock, caps, spent, means, lost];
      const reply = await end(redis, keys, [jobId, fence, prefix, isReleased ? 1 : 0]);
      shards.announce(reply === 2 ? 1 : 0);
      return reply !== 0;
    },

    /** Removes jobs whose lease has expired, and returns these leases, each to one caller only. */
    async reap(): Promise<LeaseRef[]> {
      const reaped = await Promise.all(
        all.map(async ({ prefix, leased, roundRobin, clock, caps, spent, lost }) =>
          refs(await reap(redis, [leased, roundRobin, clock, caps, spent, lost], [prefix, REAPED_MAX, LEASE_MS])),
        ),
      );
      const leases = reaped.flat();
      // Each may have brought its organization below its cap.
      shards.announce(leases.length);
      return leases;
    },
  };
}

/**
 * Leases from all shards, starting with another one each time, so that none is preferred; null: by none of them the
 * node may have any.
 */
function takeFromShards({ redis, all }: QueueShards) {
  let nextShard = 0;

  const takeFrom = async (keys: ShardKeys, node: string, max: number, slots: number): Promise<LeaseRef[] | null> => {
    const { prefix, roundRobin, leased, fence, caps, adopted, clock, spent, lost } = keys;
    const scriptKeys = [roundRobin, leased, fence, caps, adopted, clock, spent, lost];
    const reply = await acquire(redis, scriptKeys, [prefix, node, LEASE_MS, max, slots, CHARGED_MS]);
    return reply === 0 ? null : refs(reply);
  };

  return async (node: string, max: number, slots: number): Promise<LeaseRef[] | null> => {
    const taken: LeaseRef[] = [];
    let isFull = true;
    const first = nextShard++;
    // A shard counts its own leases. With one shard, the usual case, the count is exact also for concurrent calls.
    const held = all.length === 1 ? [0] : await Promise.all(all.map((keys) => redis.zcard(keys.node(node))));
    const total = held.reduce((sum, count) => sum + count, 0);
    for (let step = 0; step < all.length && taken.length < max; step += 1) {
      const shard = (first + step) % all.length;
      const elsewhere = total - held[shard]! + taken.length;
      const found = await takeFrom(all[shard]!, node, max - taken.length, slots - elsewhere);
      taken.push(...(found ?? []));
      isFull &&= found === null;
    }
    return isFull ? null : taken;
  };
}

/** The leases in a script's reply: job id, fence, organization, job id, ... */
function refs(reply: unknown): LeaseRef[] {
  const flat = reply as string[];
  const found: LeaseRef[] = [];
  for (let at = 0; at + 2 < flat.length; at += 3)
    found.push({ jobId: flat[at]!, fence: Number(flat[at + 1]), organizationId: flat[at + 2]! });
  return found;
}
