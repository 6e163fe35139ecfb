import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { refill } from '../../control-plane/src/crawling/leases/refill.ts';
import { crawlQueue } from '../../control-plane/src/crawling/queue/queue.ts';
import { workMetrics } from '../../control-plane/src/metrics.ts';
import { openRedis, redisReady } from '../../control-plane/src/platform/redis.ts';
import type { ScanInQueue } from '../../control-plane/src/scan/scan.ts';
import { barChart, machine, median, saveResult } from './report.ts';

/** The cost of leasing a job with few and with very many waiting jobs, and the cost of refilling the many. */
const DEPTHS = [100, 1_000_000];
const ROUNDS = 9;
const LEASES = 50;
const ORGANIZATIONS = 20;

const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
const servers: ChildProcess[] = [];

async function startQueue(name: string) {
  const socket = join(folder, name);
  servers.push(
    spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder], { stdio: 'ignore' }),
  );
  const redis = openRedis(`unix://${socket}`, createLogger('bench', 'silent'));
  await redisReady(redis, 10_000);
  return { redis, queue: crawlQueue(redis) };
}

const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** `count` pending scans, generated page by page as the store would read them. */
const pendingScans = (count: number) => ({
  countJobsInStatus: async (status: string) => (status === 'pending' ? count : 0),
  async pageInStatus(status: string, after: string, limit: number): Promise<ScanInQueue[]> {
    const from = after === '' ? 0 : Number(after.slice(-12)) + 1;
    const length = status === 'pending' ? Math.min(limit, count - from) : 0;
    return Array.from({ length }, (_, at) => ({
      _id: idOf(from + at),
      organization_id: `organization-${(from + at) % ORGANIZATIONS}`,
      job_id: idOf(from + at),
      job_kind: 'page',
      slot: 0,
      priority: 1,
      campaign_id: null,
      run_id: null,
      status: 'pending',
      due_at: new Date(0),
      lease: null,
      lost_requeues: 0,
    }));
  },
});

try {
  const measured = [];
  for (const depth of DEPTHS) {
    const { redis, queue } = await startQueue(`redis-${depth}`);
    const metrics = workMetrics(new Registry());
    let heap = 0;
    const scans = pendingScans(depth);
    const watched = {
      ...scans,
      membersOf: async () => [],
      pageInStatus(...asked: Parameters<typeof scans.pageInStatus>) {
        heap = Math.max(heap, process.memoryUsage().heapUsed);
        return scans.pageInStatus(...asked);
      },
    };
    const began = performance.now();
    await refill({ queue, scans: watched, redis, metrics, logger: createLogger('bench', 'info') });
    const seconds = (performance.now() - began) / 1000;
    const memory = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    measured.push({ depth, redis, queue, seconds, heap, memory, micros: [] as number[] });
  }
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const one of round % 2 ? measured : measured.toReversed()) {
      const began = performance.now();
      const refs = [];
      for (let lease = 0; lease < LEASES; lease += 1)
        refs.push(...(await one.queue.take(`node-${round}/bench`, 1, 256)));
      const micros = (1000 * (performance.now() - began)) / LEASES;
      if (round > 0) one.micros.push(micros);
      // As many wait again.
      for (const ref of refs) {
        await one.queue.end(ref);
        await one.queue.enqueue({ jobId: ref.jobId, organizationId: ref.organizationId, priority: 1, delayMs: 0 });
      }
    }
  const [few, many] = measured.map(({ micros }) => median(micros));
  const name = (depth: number) => `${depth.toLocaleString('en')} waiting`;
  saveResult('queue-depth', [
    '# Leasing a job with few and with many waiting',
    `${machine()}. Microseconds of one lease over a socket: medians of ${ROUNDS} rounds of ${LEASES}, in turn, ${ORGANIZATIONS} organizations. Ratio ${(many! / few!).toFixed(2)}.`,
    [
      '| | µs | least | most |',
      '|---|--:|--:|--:|',
      ...measured.map(
        ({ depth, micros }) =>
          `| ${name(depth)} | ${median(micros).toFixed(0)} | ${Math.min(...micros).toFixed(0)} | ${Math.max(...micros).toFixed(0)} |`,
      ),
    ].join('\n'),
    barChart(
      'µs for one lease',
      measured.map(({ depth, micros }) => [name(depth), median(micros)] as const),
    ),
    'What a refill of the whole queue costs, its scans made up as the store would read them; the heap is the most that the process had in use before a page:',
    [
      '| | s | heap, MB | Redis, MB |',
      '|---|--:|--:|--:|',
      ...measured.map(
        ({ depth, seconds, heap, memory }) =>
          `| ${name(depth)} | ${seconds.toFixed(1)} | ${(heap / 1e6).toFixed(0)} | ${(memory / 1e6).toFixed(0)} |`,
      ),
    ].join('\n'),
  ]);
  for (const { redis } of measured) redis.disconnect();
} finally {
  for (const server of servers) {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}
