import { gatherByKey } from '../../platform/gather-by-key.ts';
import { loadScript } from '../../platform/redis.ts';
import type { ScanInQueue } from '../../scan/scan.ts';
import type { Band, QueueShards, ShardKeys, WaitingJob } from './queue-shards.ts';

const PROMOTED_MAX = 200;
/** Jobs in one call of a script: it keeps Redis for a millisecond or two. */
const ENQUEUED_AT_ONCE = 100;

const script = (name: string) => loadScript(new URL(`scripts/${name}.lua`, import.meta.url));
const [enqueue, promote, drop] = [script('enqueue'), script('promote'), script('drop')];

/** Jobs that no node has: they wait, or are delayed until they are due. */
export function waitingJobs(shards: QueueShards) {
  const { redis, all, keysFor } = shards;

  /** Jobs that are queued one by one while a call is under way share the next one. */
  const enqueueSoon = gatherByKey(
    (shard: string, jobs: WaitingJob[]) => enqueueInShard(shards, all[Number(shard)]!, jobs),
    ENQUEUED_AT_ONCE,
  );

  return {
    /** Puts a job in its organization's queue; false where it is really in the queue that its state names already. */
    enqueue: (job: WaitingJob): Promise<boolean> => enqueueSoon(String(shards.numberOf(job.organizationId)), job),

    /** Puts jobs in their organizations' queues, some hundred at a time; answers how many were not in the queue that their state names. */
    async enqueueAll(jobs: WaitingJob[]): Promise<number> {
      const byShard = Map.groupBy(jobs, ({ organizationId }) => keysFor(organizationId));
      let added = 0;
      for (const [keys, inShard] of byShard)
        for (let from = 0; from < inShard.length; from += ENQUEUED_AT_ONCE)
          added += countTrue(await enqueueInShard(shards, keys, inShard.slice(from, from + ENQUEUED_AT_ONCE)));
      return added;
    },

    /** Makes delayed jobs that are due wait for a node, and wakes nodes for them. */
    async promote(): Promise<void> {
      shards.announce(await promoteDue(shards));
    },

    /** Forgets a job that no node has; false where a node has it or there is none. */
    async drop(organizationId: string, jobId: string): Promise<boolean> {
      const keys = keysFor(organizationId);
      return (await drop(redis, [keys.job(jobId), keys.ring, keys.delayed], [keys.prefix, jobId])) === 1;
    },
  };
}

/** Makes delayed jobs that are due wait for a node; answers how many. */
export async function promoteDue({ redis, all }: QueueShards): Promise<number> {
  const moved = await Promise.all(
    all.map(({ prefix, delayed, ring, fence }) =>
      promote(redis, [delayed, ring, fence], [prefix, PROMOTED_MAX]).then(Number),
    ),
  );
  return moved.reduce((sum, count) => sum + count, 0);
}

/** Answers for each job whether it was missing from the queue that its state names. */
async function enqueueInShard(
  { redis, leaseCapOf, announce }: QueueShards,
  keys: ShardKeys,
  jobs: WaitingJob[],
): Promise<boolean[]> {
  const caps = await Promise.all(jobs.map(({ organizationId }) => leaseCapOf(organizationId)));
  const args = jobs.flatMap(({ jobId, organizationId, band, delayMs }, at) => [
    ...[jobId, organizationId, band, Math.ceil(delayMs), caps[at] ?? ''],
  ]);
  const { ring, delayed, fence, caps: capsKey, prefix } = keys;
  const replies = (await enqueue(redis, [ring, delayed, fence, capsKey], [prefix, ...args])) as number[];
  announce(replies.filter((reply) => reply === 1).length);
  return replies.map((reply) => reply > 0);
}

const countTrue = (values: boolean[]): number => values.filter(Boolean).length;

type QueuedScan = Pick<ScanInQueue, 'organization_id' | 'job_id' | 'band' | 'campaign_id' | 'due_at'>;

/** The queue a scan waits in: people wait for single scans, nobody sits before a campaign's. */
export function bandOf({ band, campaign_id }: Pick<ScanInQueue, 'band' | 'campaign_id'>): Band {
  return campaign_id !== null ? 2 : (band ?? 0);
}

/** The longest that a retry waits, in ms. */
export const RETRY_WAIT_MAX_MS = 60_000;

/** The place in the queue of a pending scan's crawl job: kept back until the scan is due, before those that are due later. */
export function waitingJobOf(scan: QueuedScan, now: Date): WaitingJob {
  // Another control plane, whose clock is ahead of ours, may have said when it is due.
  const delayMs = Math.min(scan.due_at.getTime() - now.getTime(), RETRY_WAIT_MAX_MS);
  return { jobId: scan.job_id, organizationId: scan.organization_id, band: bandOf(scan), delayMs };
}
