import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import { takeTurns } from '../../platform/take-turns.ts';
import type { InternalScans } from '../../scanning/scans/state/internal-scans.ts';
import { enqueueJob } from '../queue/enqueue-job.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import { adoptLease, leaseRefOf } from './renew.ts';

export type RefillDependencies = {
  queue: Pick<CrawlQueue, 'enqueue' | 'adopt' | 'shardOf' | 'depth'>;
  scans: Pick<InternalScans, 'pageInStatus' | 'countJobsInStatus'>;
  redis: RedisClient;
  logger: Logger;
};

const REFILL_EVERY_MS = 5_000;
/** A process that refills no more is replaced by another one after this time. */
const CLAIM_MS = 8_000;
const PAGE = 500;
/** Pages of pending scans looked at in one turn when nothing is amiss. */
const PAGES_PER_TURN = 4;
/** So many scans may be on their way between MongoDB and Redis while both are counted. */
const ON_THEIR_WAY_MAX = 100;

/**
 * Makes Redis again what MongoDB says: every pending scan has a job, every running one a lease (which runs out when nobody renews
 * it). All at once at the start, after an outage and when Redis knows of fewer jobs than there are; otherwise a piece at each turn, so
 * that a long queue costs little. Of several processes one does it.
 */
export function startRefill(dependencies: RefillDependencies): Loop {
  let whole = true;
  let position = '';

  const turn = async () => {
    try {
      if (whole || (await jobsAreMissing(dependencies))) {
        await refill(dependencies, new Date());
        whole = false;
      } else {
        await adoptRunning(dependencies);
        position = await enqueuePending(dependencies, new Date(), position, PAGES_PER_TURN);
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
  return pending + running - (waiting[0] + waiting[1] + delayed + leased) > ON_THEIR_WAY_MAX;
}

/** The whole of it. Leases go first: a job that a node has must not be queued for those of its members that wait. */
export async function refill(dependencies: RefillDependencies, now: Date): Promise<void> {
  await adoptRunning(dependencies);
  await enqueuePending(dependencies, now, '', Number.POSITIVE_INFINITY);
}

/** Looks at up to `pages` pages of pending scans after id `from`; answers where to go on, '' when it came to the end. */
async function enqueuePending(
  { queue, scans, logger }: RefillDependencies,
  now: Date,
  from: string,
  pages: number,
): Promise<string> {
  let last = from;
  for (let page = 0; page < pages; page += 1) {
    const pending = await scans.pageInStatus('pending', last, PAGE);
    const added = await Promise.all(pending.map((scan) => enqueueJob(queue, scan, now)));
    const count = added.filter(Boolean).length;
    if (count > 0) logger.info({ scans: count }, 'pending scans were not in their queue');
    if (pending.length < PAGE) return '';
    last = pending.at(-1)!._id;
  }
  return last;
}

async function adoptRunning({ queue, scans }: RefillDependencies): Promise<void> {
  for (let last = '', more = true; more; ) {
    const running = await scans.pageInStatus('running', last, PAGE);
    await Promise.all(
      running.map((scan) => {
        const ref = leaseRefOf(queue, scan);
        return ref && adoptLease(queue, ref, scan);
      }),
    );
    more = running.length === PAGE;
    last = running.at(-1)?._id ?? '';
  }
}
