import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import { takeTurns } from '../../platform/take-turns.ts';
import type { InternalScans } from '../../scan/internal-scans.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import { waitingJobOf } from '../queue/waiting-jobs.ts';
import { adoptLease, leaseRefOf } from './renew.ts';

export type RefillDependencies = {
  queue: Pick<
    CrawlQueue,
    'enqueueAll' | 'adopt' | 'depth' | 'isAdopted' | 'whileAdopting' | 'refreshCaps' | 'removeOtherShards'
  >;
  scans: Pick<InternalScans, 'pageInStatus' | 'countJobsInStatus'>;
  redis: RedisClient;
  metrics: Pick<WorkMetrics, 'refillRemaining'>;
  logger: Logger;
};

const REFILL_EVERY_MS = 5_000;
/** After this time without a sign, another process takes over the refill. */
const CLAIM_MS = 8_000;
/** Scans that are held in memory at a time, however many wait. */
const PAGE = 500;
/** Pages of pending scans that are looked at per turn in normal operation. */
const PAGES_PER_TURN = 4;
/** So many scans may be on their way between MongoDB and Redis while both are counted. */
const ON_THEIR_WAY_MAX = 100;

/**
 * Rebuilds the index in Redis from MongoDB: every pending scan has a job, every running one a lease (which expires unless it is
 * renewed). All at once at the start, after an outage, and when Redis has lost data or knows fewer jobs than there are; otherwise a part per
 * turn, so that a long queue costs little. One of the processes does it.
 */
export function startRefill(dependencies: RefillDependencies): Loop {
  let whole = true;
  let isFirst = true;
  let position = '';

  const turn = async () => {
    try {
      await dependencies.queue.refreshCaps();
      if (whole || !(await dependencies.queue.isAdopted()) || (await jobsAreMissing(dependencies))) {
        await refill(dependencies);
        if (isFirst) await dependencies.queue.removeOtherShards();
        [whole, isFirst] = [false, false];
      } else {
        await adoptRunning(dependencies);
        for (let page = 0; page === 0 || (page < PAGES_PER_TURN && position !== ''); page += 1)
          position = (await enqueuePage(dependencies, position)).next;
      }
    } catch (error) {
      whole = true;
      throw error;
    }
  };
  const turns = takeTurns(dependencies.redis, 'refill', CLAIM_MS);
  const loop = startLoop(dependencies.logger, {
    name: 'refill',
    everyMs: REFILL_EVERY_MS,
    turn: () => turns.run(turn),
  });
  return {
    async stop() {
      await loop.stop();
      await turns.release();
    },
  };
}

/** Whether Redis knows of clearly fewer jobs than begin with a pending or running scan in MongoDB. Fewer than that are found by the walk. */
async function jobsAreMissing({ queue, scans }: RefillDependencies): Promise<boolean> {
  const [pending, running] = await Promise.all([
    scans.countJobsInStatus('pending'),
    scans.countJobsInStatus('running'),
  ]);
  const { waiting, delayed, leased } = await queue.depth();
  return pending + running - (waiting[0] + waiting[1] + waiting[2] + delayed + leased) > ON_THEIR_WAY_MAX;
}

/** Rebuilds all of it. Leases come first: a job that a node has must not be queued for its waiting members. */
export async function refill(dependencies: RefillDependencies): Promise<void> {
  const { queue, scans } = dependencies;
  await queue.whileAdopting(() => adoptRunning(dependencies));
  const progress = followRefill(dependencies, await scans.countJobsInStatus('pending'));
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

/** Looks at a page of pending scans after id `from`, and queues those whose jobs are missing; `next` is '' where it came to the end. */
async function enqueuePage({ queue, scans, logger }: RefillDependencies, from: string) {
  const pending = await scans.pageInStatus('pending', from, PAGE);
  const now = new Date();
  const queued = await queue.enqueueAll(pending.map((scan) => waitingJobOf(scan, now)));
  if (queued > 0) logger.debug({ jobs: queued }, 'jobs of pending scans were not in their queue');
  return { looked: pending.length, queued, next: pending.length < PAGE ? '' : pending.at(-1)!._id };
}

async function adoptRunning({ queue, scans }: RefillDependencies): Promise<void> {
  for (let last = '', more = true; more; ) {
    const running = await scans.pageInStatus('running', last, PAGE);
    await Promise.all(
      running.map((scan) => {
        const ref = leaseRefOf(scan);
        return ref && adoptLease(queue, ref, scan);
      }),
    );
    more = running.length === PAGE;
    last = running.at(-1)?._id ?? '';
  }
}

const TELL_EVERY_MS = 5_000;

/** Tells how far a refill of the whole queue is: in a gauge, and in the log every five seconds and when it put something back. */
export function followRefill(
  { metrics, logger }: { metrics: Pick<WorkMetrics, 'refillRemaining'>; logger: Logger },
  total: number,
) {
  let [lookedAt, queued] = [0, 0];
  const isSlow = () => performance.now() - began >= TELL_EVERY_MS;
  const began = performance.now();
  let told = began;
  metrics.refillRemaining.set(total);
  return {
    add(page: { looked: number; queued: number }): void {
      lookedAt += page.looked;
      queued += page.queued;
      metrics.refillRemaining.set(Math.max(0, total - lookedAt));
      if (performance.now() - told < TELL_EVERY_MS) return;
      told = performance.now();
      logger.info({ scans: lookedAt, of: total, queued }, 'the queue is being refilled');
    },

    end(): void {
      metrics.refillRemaining.set(0);
      if (queued > 0 || isSlow()) logger.info({ scans: lookedAt, of: total, queued }, 'the queue was refilled');
    },
  };
}
