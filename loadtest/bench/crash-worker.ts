import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Worker } from 'bullmq';
import { openRedis } from '../../control-plane/src/platform/redis.ts';

/** A BullMQ worker with default settings that never finishes a job and reports each job it starts to its parent. Arguments: Redis URL, concurrency. */
const [, , url = '', concurrency = '1'] = process.argv;
const connection = openRedis(url, createLogger('bench', 'silent')).duplicate({
  ...{ maxRetriesPerRequest: null, enableOfflineQueue: true, commandTimeout: 60_000 },
});
process.on('disconnect', () => process.exit());
const work = async ({ id = '' }: { id?: string | undefined }) => {
  process.send?.({ type: 'leased', jobId: id });
  return new Promise<never>(() => undefined);
};
const worker = new Worker('crash', work, { connection, concurrency: Number(concurrency) });
worker.on('error', () => undefined);
