import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import { loadScript, type RedisClient } from '../../platform/redis.ts';
import { singleProcessHints, type WakeHub } from '../../platform/wake-hub.ts';
import { BANDS, type Band, shardKeys, shardOf } from './keys.ts';

/** What one lease is about: `fence` grows with every lease that is given in a shard. */
export type LeaseRef = { shard: number; jobId: string; fence: number; organizationId: string };

/** A job's place in the queue. `delayMs` keeps it back, for a retry. */
export type WaitingJob = { jobId: string; organizationId: string; band: Band; delayMs: number };

/** How many jobs are in each state. */
export type QueueDepth = { waiting: Record<Band, number>; delayed: number; leased: number };

/** The index of crawl jobs in Redis (shared/src/lease/PROTOCOL.md). Every call rejects while Redis is away. */
export type CrawlQueue = ReturnType<typeof crawlQueue>;

const PROMOTED_MAX = 200;
const REAPED_MAX = 200;

const script = (name: string) => loadScript(new URL(`scripts/${name}.lua`, import.meta.url));
const [enqueue, promote, acquire] = [script('enqueue'), script('promote'), script('acquire')];
const [renew, adopt, end, drop, reap] = [
  script('renew'),
  script('adopt'),
  script('end'),
  script('drop'),
  script('reap'),
];

type WorkHints = Pick<WakeHub, 'signal' | 'announce' | 'isConnected'>;

/** How often a waiting node looks by itself, in ms: rarely where hints of other processes arrive. */
const LOOK_EVERY_MS = { withHints: 10_000, withoutHints: 1_000 };

export function crawlQueue(redis: RedisClient, shards = 1, wake: WorkHints = singleProcessHints()) {
  const keysOf = Array.from({ length: shards }, (_, shard) => shardKeys(shard));
  const keysFor = (organizationId: string) => keysOf[shardOf(organizationId, shards)]!;
  const work = wake.signal('jobs');
  /** When the next delayed job is due as far as is known, on this process' own clock. */
  let nextDueAt = Number.POSITIVE_INFINITY;
  let nextShard = 0;
  let connection = 0;
  redis.on('ready', () => {
    connection += 1;
  });

  /** How many leases a node has in each shard. */
  const leasesOf = (node: string): Promise<number[]> => Promise.all(keysOf.map((keys) => redis.zcard(keys.node(node))));

  const takeFrom = async (shard: number, node: string, max: number, slots: number): Promise<LeaseRef[]> => {
    const { prefix, ring, leased, fence, delayed } = keysOf[shard]!;
    // Sent together: the connection keeps their order, and what has just become due is given out.
    const [nextDueMs, given] = await Promise.all([
      promote(redis, [delayed, ring], [prefix, PROMOTED_MAX]),
      acquire(redis, [ring, leased, fence], [prefix, node, LEASE_MS, max, slots]),
    ]);
    if (typeof nextDueMs === 'number' && nextDueMs >= 0) nextDueAt = Math.min(nextDueAt, performance.now() + nextDueMs);
    return refs(shard, given);
  };

  return {
    /** The number of the connection to Redis, another one after each time it was lost. */
    connection: (): number => connection,

    /** The shard that an organization's jobs are in. */
    shardOf: (organizationId: string): number => shardOf(organizationId, shards),

    /** Puts a job in its organization's queue; false where it is really in the queue that its state names already. */
    async enqueue({ jobId, organizationId, band, delayMs }: WaitingJob): Promise<boolean> {
      const keys = keysFor(organizationId);
      const queues = BANDS.map((one) => keys.waiting(organizationId, one));
      const delay = Math.max(0, Math.ceil(delayMs));
      const added = await enqueue(
        redis,
        [keys.job(jobId), keys.ring, keys.delayed, ...queues, keys.leased],
        [jobId, organizationId, band, delay],
      );
      // Whoever waits learns of a delayed job too, and when it is due.
      if (added === 1) wake.announce('jobs');
      return added === 1;
    },

    /** Leases up to `max` jobs to a node, so that it has at most `slots` leases; each shard in turn goes first. */
    async take(node: string, max: number, slots: number): Promise<LeaseRef[]> {
      const taken: LeaseRef[] = [];
      const first = nextShard++;
      if (nextDueAt <= performance.now()) nextDueAt = Number.POSITIVE_INFINITY;
      // A shard counts what it leased itself; with one shard, and so usually, the count is exact whoever asks at the same time.
      const held = shards === 1 ? [0] : await leasesOf(node);
      const total = held.reduce((sum, count) => sum + count, 0);
      for (let step = 0; step < shards && taken.length < max; step += 1) {
        const shard = (first + step) % shards;
        const elsewhere = total - held[shard]! + taken.length;
        taken.push(...(await takeFrom(shard, node, max - taken.length, slots - elsewhere)));
      }
      return taken;
    },

    /** Resolves when a job may be waiting, or after `ms`. Without a hint it is time to look when a delayed job is due, and now and then. */
    waitForWork(ms: number, stop?: AbortSignal): Promise<void> {
      const lookMs = wake.isConnected() ? LOOK_EVERY_MS.withHints : LOOK_EVERY_MS.withoutHints;
      const dueMs = Math.max(0, nextDueAt - performance.now());
      return work.wait(Math.min(ms, lookMs, dueMs), stop);
    },

    /** Gives a lease its full time again; false where this fence does not hold the job. */
    async renew({ shard, jobId, fence }: LeaseRef): Promise<boolean> {
      const keys = keysOf[shard]!;
      return (await renew(redis, [keys.job(jobId), keys.leased], [jobId, fence, LEASE_MS, keys.prefix])) === 1;
    },

    /** Leases the job to who holds it by MongoDB, for its full time; false where it is known already. */
    async adopt(
      { shard, jobId, fence, organizationId }: LeaseRef,
      { band, nodeId }: { band: Band; nodeId: string },
    ): Promise<boolean> {
      const keys = keysOf[shard]!;
      const args = [jobId, organizationId, band, fence, nodeId, LEASE_MS, keys.prefix];
      return (await adopt(redis, [keys.job(jobId), keys.leased, keys.fence], args)) === 1;
    },

    /** Forgets a leased job; false where this fence does not hold it. */
    async end({ shard, jobId, fence }: LeaseRef): Promise<boolean> {
      const keys = keysOf[shard]!;
      return (await end(redis, [keys.job(jobId), keys.leased], [jobId, fence, keys.prefix])) === 1;
    },

    /** Forgets a job that no node has; false where a node has it or there is none. */
    async drop(organizationId: string, jobId: string): Promise<boolean> {
      const keys = keysFor(organizationId);
      return (await drop(redis, [keys.job(jobId), keys.ring, keys.delayed], [keys.prefix, jobId])) === 1;
    },

    /** Forgets jobs whose lease has run out and answers those leases; no two callers are told the same one. */
    async reap(): Promise<LeaseRef[]> {
      const reaped = keysOf.map(async ({ prefix, leased }, shard) =>
        refs(shard, await reap(redis, [leased], [prefix, REAPED_MAX])),
      );
      return (await Promise.all(reaped)).flat();
    },

    async depth(): Promise<QueueDepth> {
      const depths = await Promise.all(keysOf.map((keys) => depthOf(redis, keys)));
      const sum = (part: (depth: QueueDepth) => number) => depths.reduce((total, depth) => total + part(depth), 0);
      return {
        waiting: { 0: sum(({ waiting }) => waiting[0]), 1: sum(({ waiting }) => waiting[1]) },
        delayed: sum(({ delayed }) => delayed),
        leased: sum(({ leased }) => leased),
      };
    },
  };
}

async function depthOf(redis: RedisClient, keys: ReturnType<typeof shardKeys>): Promise<QueueDepth> {
  const [organizations, delayed, leased] = await Promise.all([
    redis.lrange(keys.ring, 0, -1),
    redis.zcard(keys.delayed),
    redis.zcard(keys.leased),
  ]);
  const inBand = async (band: Band) => {
    const lengths = await Promise.all(
      organizations.map((organization) => redis.zcard(keys.waiting(organization, band))),
    );
    return lengths.reduce((total, length) => total + length, 0);
  };
  const [interactive, bulk] = await Promise.all([inBand(0), inBand(1)]);
  return { waiting: { 0: interactive, 1: bulk }, delayed, leased };
}

function refs(shard: number, reply: unknown): LeaseRef[] {
  const flat = reply as string[];
  const found: LeaseRef[] = [];
  for (let at = 0; at + 2 < flat.length; at += 3)
    found.push({ shard, jobId: flat[at]!, fence: Number(flat[at + 1]), organizationId: flat[at + 2]! });
  return found;
}
