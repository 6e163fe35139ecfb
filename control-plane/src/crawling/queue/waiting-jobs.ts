import { gatherByKey } from '../../platform/gather-by-key.ts';
import type { ScanInQueue } from '../../scan/scan.ts';
import { queueScript } from './queue-script.ts';
import type { PriorityClass, QueueShards, ShardKeys, WaitingJob } from './queue-shards.ts';

/** The longest delay of a retry, in ms. */
export const RETRY_WAIT_MAX_MS = 60_000;

const PROMOTED_MAX = 200;
/** Jobs per script call, which then blocks Redis for a millisecond or two. */
const ENQUEUED_AT_ONCE = 100;

const [enqueue, promote] = [queueScript('enqueue'), queueScript('promote')];
const drop = queueScript('drop', 'has-waiting-jobs');

/** Operations on jobs that are not leased: waiting ones, and delayed ones that are not due yet. */
export function waitingJobs(shards: QueueShards) {
  const { redis, all, keysFor } = shards;

  /** Batches the jobs that are queued one by one while a script call runs. */
  const enqueueSoon = gatherByKey(
    (shard: string, jobs: WaitingJob[]) => enqueueInShard(shards, all[Number(shard)]!, jobs),
    ENQUEUED_AT_ONCE,
  );

  return {
    /** Adds a job to its organization's queue; false if it is in the set of its state already. */
    enqueue: (job: WaitingJob): Promise<boolean> => enqueueSoon(String(shards.numberOf(job.organizationId)), job),

    /**
     * Adds jobs to their organizations' queues, a hundred per script call; returns how many were missing from the set
     * of their state.
     */
    async enqueueAll(jobs: WaitingJob[]): Promise<number> {
      const byShard = Map.groupBy(jobs, ({ organizationId }) => keysFor(organizationId));
      let added = 0;
      for (const [keys, inShard] of byShard)
        for (let from = 0; from < inShard.length; from += ENQUEUED_AT_ONCE)
          added += countTrue(await enqueueInShard(shards, keys, inShard.slice(from, from + ENQUEUED_AT_ONCE)));
      return added;
    },

    /** Moves delayed jobs that are due to the waiting ones, and wakes nodes for them. */
    async promote(): Promise<void> {
      shards.announce(await promoteDue(shards));
    },

    /** Removes a job that is not leased; false if it is leased or does not exist. */
    async drop(organizationId: string, jobId: string): Promise<boolean> {
      const keys = keysFor(organizationId);
      return (
        (await drop(redis, [keys.job(jobId), keys.roundRobin, keys.delayed, keys.spent], [keys.prefix, jobId])) === 1
      );
    },
  };
}

/** Moves delayed jobs that are due to the waiting ones; returns how many. */
export async function promoteDue({ redis, all }: QueueShards): Promise<number> {
  const moved = await Promise.all(
    all.map(({ prefix, delayed, roundRobin, clock }) =>
      promote(redis, [delayed, roundRobin, clock], [prefix, PROMOTED_MAX, RETRY_WAIT_MAX_MS]).then(Number),
    ),
  );
  return moved.reduce((sum, count) => sum + count, 0);
}

/** Returns for each job whether it was missing from the set of its state. */
async function enqueueInShard(
  { redis, leaseCapOf, announce }: QueueShards,
  keys: ShardKeys,
  jobs: WaitingJob[],
): Promise<boolean[]> {
  const caps = await Promise.all(jobs.map(({ organizationId }) => leaseCapOf(organizationId)));
  const args = jobs.flatMap(({ jobId, organizationId, priority, delayMs }, at) => [
    ...[jobId, organizationId, priority, Math.ceil(delayMs), caps[at] ?? ''],
  ]);
  const { roundRobin, delayed, clock, caps: capsKey, prefix } = keys;
  const replies = (await enqueue(redis, [roundRobin, delayed, clock, capsKey], [prefix, ...args])) as number[];
  announce(replies.filter((reply) => reply === 1).length);
  return replies.map((reply) => reply > 0);
}

const countTrue = (values: boolean[]): number => values.filter(Boolean).length;

type QueuedScan = Pick<ScanInQueue, 'organization_id' | 'job_id' | 'band' | 'due_at'>;

/** The priority class of a scan's job. Single scans come first, because a person waits for them. */
export function priorityClassOf({ band = 0 }: Pick<ScanInQueue, 'band'>): PriorityClass {
  return band;
}

/** The crawl job of a pending scan, delayed until the scan is due. */
export function waitingJobOf(scan: QueuedScan, now: Date): WaitingJob {
  // Another control plane set the due time, and its clock may be ahead of ours.
  const delayMs = Math.min(scan.due_at.getTime() - now.getTime(), RETRY_WAIT_MAX_MS);
  return { jobId: scan.job_id, organizationId: scan.organization_id, priority: priorityClassOf(scan), delayMs };
}
