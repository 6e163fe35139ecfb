import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import { loadScript } from '../../platform/redis.ts';
import type { Band, LeaseRef, QueueShards, ShardKeys } from './queue-shards.ts';
import { promoteDue } from './waiting-jobs.ts';

const REAPED_MAX = 200;

const script = (name: string) => loadScript(new URL(`scripts/${name}.lua`, import.meta.url));
const [acquire, renew, adopt] = [script('acquire'), script('renew'), script('adopt')];
const [end, reap] = [script('end'), script('reap')];

/** Jobs that nodes have: how a lease begins, lasts and ends. */
export function leasedJobs(shards: QueueShards) {
  const { redis, all, keysFor } = shards;
  const takeOnce = takeInTurn(shards);

  return {
    /** Leases up to `max` jobs to a node, so that it has at most `slots` leases; each shard in turn goes first. */
    async take(node: string, max: number, slots: number): Promise<LeaseRef[]> {
      const taken = await takeOnce(node, max, slots);
      return taken.length === 0 && (await promoteDue(shards)) > 0 ? takeOnce(node, max, slots) : taken;
    },

    /** Gives a lease its full time again; false where this fence does not hold the job. */
    async renew({ jobId, fence, organizationId }: LeaseRef): Promise<boolean> {
      const keys = keysFor(organizationId);
      return (await renew(redis, [keys.job(jobId), keys.leased], [jobId, fence, LEASE_MS, keys.prefix])) === 1;
    },

    /** Leases the job to the node that holds it according to MongoDB, for its full time; false where it is known already. */
    async adopt(
      { jobId, fence, organizationId }: LeaseRef,
      { band, nodeId }: { band: Band; nodeId: string },
    ): Promise<boolean> {
      const keys = keysFor(organizationId);
      const args = [jobId, organizationId, band, fence, nodeId, LEASE_MS, keys.prefix];
      return (await adopt(redis, [keys.job(jobId), keys.leased, keys.fence], args)) === 1;
    },

    /** Forgets a leased job; false where this fence does not hold it. */
    async end({ jobId, fence, organizationId }: LeaseRef): Promise<boolean> {
      const { job, leased, ring, fence: last, caps, prefix } = keysFor(organizationId);
      const reply = await end(redis, [job(jobId), leased, ring, last, caps], [jobId, fence, prefix]);
      shards.announce(reply === 2 ? 1 : 0);
      return reply !== 0;
    },

    /** Forgets jobs whose lease has run out and answers those leases, each to one caller only. */
    async reap(): Promise<LeaseRef[]> {
      const reaped = await Promise.all(
        all.map(async ({ prefix, leased, ring, fence, caps }) =>
          refs(await reap(redis, [leased, ring, fence, caps], [prefix, REAPED_MAX])),
        ),
      );
      const leases = reaped.flat();
      // Each may have made room under its organization's cap.
      shards.announce(leases.length);
      return leases;
    },
  };
}

/** Leases from all shards once; each in turn goes first, so that none is preferred. */
function takeInTurn({ redis, all }: QueueShards) {
  let nextShard = 0;

  const takeFrom = async (keys: ShardKeys, node: string, max: number, slots: number): Promise<LeaseRef[]> => {
    const { prefix, ring, leased, fence, caps, adopted } = keys;
    return refs(await acquire(redis, [ring, leased, fence, caps, adopted], [prefix, node, LEASE_MS, max, slots]));
  };

  return async (node: string, max: number, slots: number): Promise<LeaseRef[]> => {
    const taken: LeaseRef[] = [];
    const first = nextShard++;
    // A shard counts what it leased itself; with one shard, the usual case, that count is exact even for concurrent calls.
    const held = all.length === 1 ? [0] : await Promise.all(all.map((keys) => redis.zcard(keys.node(node))));
    const total = held.reduce((sum, count) => sum + count, 0);
    for (let step = 0; step < all.length && taken.length < max; step += 1) {
      const shard = (first + step) % all.length;
      const elsewhere = total - held[shard]! + taken.length;
      taken.push(...(await takeFrom(all[shard]!, node, max - taken.length, slots - elsewhere)));
    }
    return taken;
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
