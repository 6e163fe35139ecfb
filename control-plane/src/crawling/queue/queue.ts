import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import { gatherByKey } from '../../platform/gather-by-key.ts';
import { loadScript, type RedisClient, serversOf } from '../../platform/redis.ts';
import { singleProcessHints, type WakeHub } from '../../platform/wake-hub.ts';
import { type Band, type ShardKeys, shardKeys, shardOf } from './keys.ts';
import { type QueueDepth, type QueueLoad, readDepth, readLoad, readOldest } from './read-depth.ts';

/** What one lease is about: `fence` grows with every lease that is given in a shard. */
export type LeaseRef = { jobId: string; fence: number; organizationId: string };

/** A job's place in the queue. `delayMs` keeps it back, for a retry; below 0: it has been due for so long, and stands before later ones. */
export type WaitingJob = { jobId: string; organizationId: string; band: Band; delayMs: number };

/** How many leases an organization may have at once; null: as many as there are slots. */
export type LeaseCapOf = (organizationId: string) => Promise<number | null>;

/** `shards`: how many queues the organizations are spread over, the same number in all processes. */
export type QueueOptions = { shards?: number | undefined; wake?: WorkHints; leaseCapOf?: LeaseCapOf };

/** The index of crawl jobs in Redis (shared/src/lease/PROTOCOL.md). Every call rejects while Redis is away. */
export type CrawlQueue = ReturnType<typeof crawlQueue>;

const PROMOTED_MAX = 200;
const REAPED_MAX = 200;
/** Jobs in one call of a script: it keeps Redis for a millisecond or two. */
const ENQUEUED_AT_ONCE = 100;

const script = (name: string) => loadScript(new URL(`scripts/${name}.lua`, import.meta.url));
const [enqueue, promote, acquire] = [script('enqueue'), script('promote'), script('acquire')];
const [renew, adopt, end] = [script('renew'), script('adopt'), script('end')];
const [drop, reap, limit] = [script('drop'), script('reap'), script('limit')];

const SCANNED_AT_ONCE = 1_000;

type WorkHints = Pick<WakeHub, 'signal' | 'announce' | 'isConnected'>;

/** How often a waiting node looks by itself, in ms: rarely where hints of other processes arrive. */
const LOOK_EVERY_MS = { withHints: 10_000, withoutHints: 1_000 };

export function crawlQueue(
  redis: RedisClient,
  { shards = 1, wake = singleProcessHints(), leaseCapOf = async () => null }: QueueOptions = {},
) {
  const allKeys = Array.from({ length: shards }, (_, shard) => shardKeys(shard, shards));
  const keysFor = (organizationId: string) => allKeys[shardOf(organizationId, shards)]!;
  const work = wake.signal('jobs');
  let nextShard = 0;
  let connection = 0;
  redis.on('ready', () => {
    connection += 1;
  });

  const announce = (jobs: number) => {
    for (let count = 0; count < jobs; count += 1) wake.announce('jobs');
  };

  /** How many leases a node has in each shard. */
  const leasesOf = (node: string): Promise<number[]> =>
    Promise.all(allKeys.map((keys) => redis.zcard(keys.node(node))));

  const takeFrom = async (keys: ShardKeys, node: string, max: number, slots: number): Promise<LeaseRef[]> => {
    const { prefix, ring, leased, fence, caps, adopted } = keys;
    return refs(await acquire(redis, [ring, leased, fence, caps, adopted], [prefix, node, LEASE_MS, max, slots]));
  };

  const takeOnce = async (node: string, max: number, slots: number): Promise<LeaseRef[]> => {
    const taken: LeaseRef[] = [];
    const first = nextShard++;
    // A shard counts what it leased itself; with one shard, and so usually, the count is exact whoever asks at the same time.
    const held = shards === 1 ? [0] : await leasesOf(node);
    const total = held.reduce((sum, count) => sum + count, 0);
    for (let step = 0; step < shards && taken.length < max; step += 1) {
      const shard = (first + step) % shards;
      const elsewhere = total - held[shard]! + taken.length;
      taken.push(...(await takeFrom(allKeys[shard]!, node, max - taken.length, slots - elsewhere)));
    }
    return taken;
  };

  /** Answers of each job whether it was not in the queue that its state names. */
  const enqueueInShard = async (keys: ShardKeys, jobs: WaitingJob[]): Promise<boolean[]> => {
    const caps = await Promise.all(jobs.map(({ organizationId }) => leaseCapOf(organizationId)));
    const args = jobs.flatMap(({ jobId, organizationId, band, delayMs }, at) => [
      ...[jobId, organizationId, band, Math.ceil(delayMs), caps[at] ?? ''],
    ]);
    const { ring, delayed, fence, caps: capsKey, prefix } = keys;
    const replies = (await enqueue(redis, [ring, delayed, fence, capsKey], [prefix, ...args])) as number[];
    announce(replies.filter((reply) => reply === 1).length);
    return replies.map((reply) => reply > 0);
  };

  /** Jobs that are queued one by one while a call is under way share the next one. */
  const enqueueSoon = gatherByKey(
    (shard: string, jobs: WaitingJob[]) => enqueueInShard(allKeys[Number(shard)]!, jobs),
    ENQUEUED_AT_ONCE,
  );

  /** Puts jobs in their organizations' queues, some hundred at a time; answers how many were not in the queue that their state names. */
  const enqueueAll = async (jobs: WaitingJob[]): Promise<number> => {
    const byShard = Map.groupBy(jobs, ({ organizationId }) => keysFor(organizationId));
    let added = 0;
    for (const [keys, inShard] of byShard)
      for (let from = 0; from < inShard.length; from += ENQUEUED_AT_ONCE)
        added += countTrue(await enqueueInShard(keys, inShard.slice(from, from + ENQUEUED_AT_ONCE)));
    return added;
  };

  /** Makes delayed jobs that are due wait for a node; answers how many. */
  const promoteDue = async (): Promise<number> => {
    const moved = await Promise.all(
      allKeys.map(({ prefix, delayed, ring, fence }) =>
        promote(redis, [delayed, ring, fence], [prefix, PROMOTED_MAX]).then(Number),
      ),
    );
    return moved.reduce((sum, count) => sum + count, 0);
  };

  return {
    /** The number of the connection to Redis, another one after each time it was lost. */
    connection: (): number => connection,

    enqueueAll,

    /** Puts a job in its organization's queue; false where it is really in the queue that its state names already. */
    enqueue: (job: WaitingJob): Promise<boolean> => enqueueSoon(String(shardOf(job.organizationId, shards)), job),

    /** Makes delayed jobs that are due wait for a node, and wakes nodes for them. */
    async promote(): Promise<void> {
      announce(await promoteDue());
    },

    /** Leases up to `max` jobs to a node, so that it has at most `slots` leases; each shard in turn goes first. */
    async take(node: string, max: number, slots: number): Promise<LeaseRef[]> {
      const taken = await takeOnce(node, max, slots);
      return taken.length === 0 && (await promoteDue()) > 0 ? takeOnce(node, max, slots) : taken;
    },

    /** Resolves when a job may be waiting, or after `ms`. Without a hint it is time to look now and then. */
    waitForWork(ms: number, stop?: AbortSignal): Promise<void> {
      return work.wait(Math.min(ms, LOOK_EVERY_MS[wake.isConnected() ? 'withHints' : 'withoutHints']), stop);
    },

    /** Gives a lease its full time again; false where this fence does not hold the job. */
    async renew({ jobId, fence, organizationId }: LeaseRef): Promise<boolean> {
      const keys = keysFor(organizationId);
      return (await renew(redis, [keys.job(jobId), keys.leased], [jobId, fence, LEASE_MS, keys.prefix])) === 1;
    },

    /** Leases the job to who holds it by MongoDB, for its full time; false where it is known already. */
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
      announce(reply === 2 ? 1 : 0);
      return reply !== 0;
    },

    /** Forgets a job that no node has; false where a node has it or there is none. */
    async drop(organizationId: string, jobId: string): Promise<boolean> {
      const keys = keysFor(organizationId);
      return (await drop(redis, [keys.job(jobId), keys.ring, keys.delayed], [keys.prefix, jobId])) === 1;
    },

    /** Forgets jobs whose lease has run out and answers those leases; no two callers are told the same one. */
    async reap(): Promise<LeaseRef[]> {
      const reaped = await Promise.all(
        allKeys.map(async ({ prefix, leased, ring, fence, caps }) =>
          refs(await reap(redis, [leased, ring, fence, caps], [prefix, REAPED_MAX])),
        ),
      );
      const leases = reaped.flat();
      // Each may have made room under its organization's cap.
      announce(leases.length);
      return leases;
    },

    /** Takes up changes of the caps of all organizations that have one or have work. */
    async refreshCaps(): Promise<void> {
      for (const { prefix, ring, fence, caps } of allKeys) {
        const organizations = new Set((await Promise.all([redis.hkeys(caps), redis.zrange(ring, '0', '-1')])).flat());
        for (const organizationId of organizations) {
          const cap = (await leaseCapOf(organizationId)) ?? '';
          announce(Number(await limit(redis, [ring, fence, caps], [prefix, organizationId, cap])));
        }
      }
    },

    /**
     * Whether every lease that MongoDB names was made known since Redis last lost its data. Until then organizations with a cap are leased
     * nothing, because nobody knows how many leases they have.
     */
    async isAdopted(): Promise<boolean> {
      const found = await Promise.all(allKeys.map(({ adopted }) => redis.exists(adopted)));
      return found.every((count) => count === 1);
    },

    /** Runs `adoptAll`, which makes every lease known, and notes that it was done; throws where Redis lost its data meanwhile. */
    async whileAdopting(adoptAll: () => Promise<void>): Promise<void> {
      await Promise.all(allKeys.map(({ adopting }) => redis.set(adopting, '1')));
      await adoptAll();
      await Promise.all(allKeys.map(({ adopting, adopted }) => redis.rename(adopting, adopted)));
    },

    /** Removes what another number of shards has left behind. */
    async removeOtherShards(): Promise<void> {
      const isOther = (key: string) => !allKeys.some(({ prefix }) => key.startsWith(prefix));
      for (const server of serversOf(redis)) {
        let cursor = '0';
        do {
          const [next, found] = await server.scan(cursor, 'MATCH', '{q*}:*', 'COUNT', SCANNED_AT_ONCE);
          for (const key of found.filter(isOther)) await redis.unlink(key);
          cursor = next;
        } while (cursor !== '0');
      }
    },

    /** How many jobs there are in each state. */
    depth: (): Promise<QueueDepth> => readDepth(redis, allKeys),

    /** The same, with how many of those that wait are beyond their organization's cap. */
    load: (): Promise<QueueLoad> => readLoad(redis, allKeys),

    /** For how many seconds the oldest waiting job of each band has waited; 0: none waits. */
    oldestWaiting: (): Promise<Record<Band, number>> => readOldest(redis, allKeys),
  };
}

const countTrue = (values: boolean[]): number => values.filter(Boolean).length;

function refs(reply: unknown): LeaseRef[] {
  const flat = reply as string[];
  const found: LeaseRef[] = [];
  for (let at = 0; at + 2 < flat.length; at += 3)
    found.push({ jobId: flat[at]!, fence: Number(flat[at + 1]), organizationId: flat[at + 2]! });
  return found;
}
