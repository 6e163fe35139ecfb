import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { exclusiveWork } from '../../platform/exclusive-work.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import { waitingJobOf } from '../queue/waiting-jobs.ts';
import { type AdoptDependencies, adoptLease, leaseRefOf } from './renew.ts';
import { pagesOfRunning } from './running-scans.ts';

export type RefillDependencies = AdoptDependencies & {
  queue: Pick<
    CrawlQueue,
    'enqueueAll' | 'depth' | 'isAdopted' | 'whileAdopting' | 'refreshCaps' | 'removeMalformed' | 'removeOtherShards'
  >;
  scans: Pick<ScanStore, 'pageInStatus' | 'countJobsInStatus'>;
  redis: RedisClient;
  metrics: Pick<WorkMetrics, 'refillRemaining'>;
};

const REFILL_EVERY_MS = 5_000;
/** After this time without a renewal, another process takes over the refill. */
const CLAIM_MS = 8_000;
/** Pending scans in memory at a time, however many there are. */
const PAGE = 500;
/** Pages of pending scans per step, when nothing is known to be missing. */
const PAGES_PER_STEP = 4;
/** Scans that may move between MongoDB and Redis while both are being counted. */
const IN_TRANSIT_MAX = 100;

/**
 * Rebuilds the index in Redis from MongoDB: every pending scan gets a job, every running one a lease (which expires
 * unless it is renewed). At the start, after an outage, and when Redis has lost data or misses jobs, it rebuilds
 * everything; otherwise a part in each step, so that the cost does not grow with the queue. One process of a deployment
 * does it.
 */
export function startRefill(dependencies: RefillDependencies): Loop {
  let whole = true;
  let isFirst = true;
  let position = '';

  const step = async () => {
    try {
      if (await removeMalformed(dependencies)) whole = true;
      await dependencies.queue.refreshCaps();
      if (whole || !(await dependencies.queue.isAdopted()) || (await jobsAreMissing(dependencies))) {
        await refill(dependencies);
        if (isFirst) await dependencies.queue.removeOtherShards();
        [whole, isFirst] = [false, false];
      } else {
        await adoptRunning(dependencies);
        for (let page = 0; page === 0 || (page < PAGES_PER_STEP && position !== ''); page += 1)
          position = (await enqueuePage(dependencies, position)).next;
      }
    } catch (error) {
      whole = true;
      throw error;
    }
  };
  const exclusive = exclusiveWork(dependencies.redis, 'refill', CLAIM_MS);
  const loop = startLoop(dependencies.logger, {
    name: 'refill',
    everyMs: REFILL_EVERY_MS,
    step: () => exclusive.run(step),
  });
  return { stop: () => exclusive.stop(loop) };
}

/** Removes what no script can work with; returns whether anything was. */
async function removeMalformed({ queue, logger }: RefillDependencies): Promise<boolean> {
  const removed = await queue.removeMalformed();
  if (removed > 0) logger.warn({ keys: removed }, 'keys of the queue that scripts could not use were removed');
  return removed > 0;
}

/**
 * Whether Redis has clearly fewer jobs than MongoDB has pending or running scans. Single missing jobs are found page by
 * page.
 */
async function jobsAreMissing({ queue, scans }: RefillDependencies): Promise<boolean> {
  const [pending, running] = await Promise.all([
    scans.countJobsInStatus('pending'),
    scans.countJobsInStatus('running'),
  ]);
  const { waiting, delayed, leased } = await queue.depth();
  return pending + running - (waiting[0] + waiting[1] + waiting[2] + delayed + leased) > IN_TRANSIT_MAX;
}

/** Rebuilds the whole index. Leases first: a leased job must not be queued for its pending members. */
export async function refill(dependencies: RefillDependencies): Promise<void> {
  const { queue, scans } = dependencies;
  await queue.whileAdopting(() => adoptRunning(dependencies));
  const progress = reportProgress(dependencies, await scans.countJobsInStatus('pending'));
  try {
    let position = '';
    do {
      const page = await enqueuePage(dependencies, position);
      progress.add(page);
      position = page.next;
    } while (position !== '');
  } finally {
    progress.end();
  }
}

/** Queues the missing jobs of a page of pending scans after id `from`; `next` is '' after the last page. */
async function enqueuePage({ queue, scans, logger }: RefillDependencies, from: string) {
  const pending = await scans.pageInStatus('pending', from, PAGE);
  const now = new Date();
  const queued = await queue.enqueueAll(pending.map((scan) => waitingJobOf(scan, now)));
  if (queued > 0) logger.debug({ jobs: queued }, 'jobs of pending scans were not in their queue');
  return { read: pending.length, queued, next: pending.length < PAGE ? '' : pending.at(-1)!._id };
}

async function adoptRunning(dependencies: RefillDependencies): Promise<void> {
  for await (const running of pagesOfRunning(dependencies.scans)) {
    await Promise.all(
      running.map((scan) => {
        const ref = leaseRefOf(scan);
        return ref && adoptLease(dependencies, ref, scan);
      }),
    );
  }
}

const LOG_EVERY_MS = 5_000;

/**
 * Reports the progress of a rebuild: in a gauge, and in the log every five seconds and at the end if it queued any job.
 */
function reportProgress(
  { metrics, logger }: { metrics: Pick<WorkMetrics, 'refillRemaining'>; logger: Logger },
  total: number,
) {
  let [scansRead, queued] = [0, 0];
  const isSlow = () => performance.now() - began >= LOG_EVERY_MS;
  const began = performance.now();
  let loggedAt = began;
  metrics.refillRemaining.set(total);
  return {
    add(page: { read: number; queued: number }): void {
      scansRead += page.read;
      queued += page.queued;
      metrics.refillRemaining.set(Math.max(0, total - scansRead));
      if (performance.now() - loggedAt < LOG_EVERY_MS) return;
      loggedAt = performance.now();
      logger.info({ scans: scansRead, of: total, queued }, 'the queue is being refilled');
    },

    end(): void {
      metrics.refillRemaining.set(0);
      if (queued > 0 || isSlow()) logger.info({ scans: scansRead, of: total, queued }, 'the queue was refilled');
    },
  };
}
