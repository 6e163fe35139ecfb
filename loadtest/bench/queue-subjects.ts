import { randomUUID } from 'node:crypto';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Queue, Worker } from 'bullmq';
import { crawlQueue } from '../../control-plane/src/crawling/queue/queue.ts';
import { openRedis, redisReady } from '../../control-plane/src/platform/redis.ts';

/** A queue as the benchmark uses it: jobs are added one by one or in bulk, and processed with a given concurrency. */
export type Subject = {
  name: string;
  add(count: number): Promise<void>;
  addBulk(count: number): Promise<void>;
  /**
   * Works off `count` waiting jobs, each of which is done at once; how many a second, from the first look to the end of the last. `perCall`: the
   * most jobs that are taken with one call, where that can be chosen.
   */
  processAll(count: number, concurrency: number, perCall?: number): Promise<number>;
  /** Adds a job while one waits for it; how long until it has it, in ms. */
  claimMs(): Promise<number>;
  stop(): Promise<void>;
};

const ADDED_AT_ONCE = 50;
const BULK = 100;
/** Jobs that a node takes with one call, as it does when several of its slots are free. */
const BATCH = 8;
const ORGANIZATIONS = 10;
const SLOTS = 256;

/** Calls `each` for 0 to `count` - 1 with a given concurrency. */
async function inParallel(count: number, parallel: number, each: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await each(next++);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

const inPieces = async (count: number, piece: (size: number) => Promise<unknown>): Promise<void> => {
  for (let done = 0; done < count; done += BULK) await piece(Math.min(BULK, count - done));
};

/** Our queue with its fences, ten organizations in turn and a cap on one of them; jobs are ended under their fence. */
export async function startOurs(url: string): Promise<Subject> {
  const redis = openRedis(url, createLogger('bench', 'silent'));
  await redisReady(redis, 5_000);
  const leaseCapOf = async (organizationId: string) => (organizationId === 'org-0' ? SLOTS : null);
  const queue = crawlQueue(redis, { leaseCapOf });
  await queue.whileAdopting(async () => {});
  let number = 0;
  const newJob = () => ({
    jobId: randomUUID(),
    organizationId: `org-${number++ % ORGANIZATIONS}`,
    priority: (number % 3) as 0 | 1 | 2,
    delayMs: 0,
  });

  return {
    name: 'Adsweep',
    add: (count) => inParallel(count, ADDED_AT_ONCE, () => queue.enqueue(newJob())),
    addBulk: (count) => inPieces(count, (size) => queue.enqueueAll(Array.from({ length: size }, newJob))),
    async processAll(count, concurrency, perCall = Math.min(BATCH, concurrency)) {
      let left = count;
      const node = async (_: unknown, index: number) => {
        while (left > 0) {
          const refs = await queue.take(`node-${index}/bench`, perCall, SLOTS);
          if (refs.length === 0) return;
          await Promise.all(refs.map((ref) => queue.end(ref)));
          left -= refs.length;
        }
      };
      const began = performance.now();
      await Promise.all(Array.from({ length: Math.max(1, Math.floor(concurrency / perCall)) }, node));
      return (1000 * count) / (performance.now() - began);
    },
    async claimMs() {
      const claimed = (async () => {
        for (;;) {
          const [ref] = await queue.take('node/claims', 1, SLOTS);
          if (ref) return ref;
          await queue.waitForWork(10_000);
        }
      })();
      await new Promise((resolve) => setTimeout(resolve, 5));
      const began = performance.now();
      await queue.enqueue(newJob());
      const ref = await claimed;
      const ms = performance.now() - began;
      await queue.end(ref);
      return ms;
    },
    stop: async () => redis.disconnect(),
  };
}

/**
 * BullMQ as its documentation begins; jobs that have ended are removed, as ours are. `lockMs`: how long a job stays with a worker that does not
 * renew its lock; null: BullMQ's default of 30 s.
 */
export async function startBull(url: string, lockMs: number | null = null): Promise<Subject> {
  const opened = openRedis(url, createLogger('bench', 'silent'));
  const connect = () =>
    opened.duplicate({ maxRetriesPerRequest: null, enableOfflineQueue: true, commandTimeout: 60_000 });
  const connections = [connect(), connect()] as const;
  const options = { defaultJobOptions: { removeOnComplete: true, removeOnFail: true } };
  const queueName = `scans-${lockMs ?? 'default'}`;
  const queue = new Queue(queueName, { connection: connections[0], ...options });
  await queue.waitUntilReady();
  const body = () => ({ organization_id: `org-${Math.floor(Math.random() * ORGANIZATIONS)}` });

  const withWorker = async <T>(concurrency: number, work: () => Promise<void>, use: (worker: Worker) => Promise<T>) => {
    const worker = new Worker(queueName, work, {
      ...{ connection: connections[1], concurrency, autorun: false },
      ...(lockMs !== null && { lockDuration: lockMs, stalledInterval: lockMs }),
    });
    worker.on('error', () => undefined);
    await worker.waitUntilReady();
    try {
      return await use(worker);
    } finally {
      await worker.close();
    }
  };

  return {
    name: lockMs === null ? 'BullMQ' : `BullMQ, lock of ${lockMs / 1000} s`,
    add: (count) => inParallel(count, ADDED_AT_ONCE, () => queue.add('scan', body())),
    addBulk: (count) =>
      inPieces(count, (size) => queue.addBulk(Array.from({ length: size }, () => ({ name: 'scan', data: body() })))),
    async processAll(count, concurrency) {
      let left = count;
      return withWorker(
        concurrency,
        async () => {},
        async (worker) => {
          const began = performance.now();
          await new Promise<void>((resolve) => {
            worker.on('completed', () => {
              left -= 1;
              if (left === 0) resolve();
            });
            void worker.run();
          });
          return (1000 * count) / (performance.now() - began);
        },
      );
    },
    async claimMs() {
      let claimed = () => {};
      const isClaimed = new Promise<void>((resolve) => {
        claimed = resolve;
      });
      return withWorker(
        1,
        async () => claimed(),
        async (worker) => {
          const ended = new Promise((resolve) => worker.once('completed', resolve));
          void worker.run();
          await new Promise((resolve) => setTimeout(resolve, 20));
          const began = performance.now();
          await queue.add('scan', body());
          await isClaimed;
          const ms = performance.now() - began;
          await ended;
          return ms;
        },
      );
    },
    async stop() {
      await queue.close();
      for (const connection of [...connections, opened]) connection.disconnect();
    },
  };
}
