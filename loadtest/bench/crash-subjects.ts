import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Queue } from 'bullmq';
import { openRedis } from '../../control-plane/src/platform/redis.ts';
import { RunningFarm, writeExits } from '../../infra/farm/test/support/running-farm.ts';
import { API_KEY, NODE_TOKEN, type startServices } from './measured-services.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

/** A queue of jobs that never finish: `start` starts a worker process with that many slots and calls `leased` for each job it starts. */
export type CrashSubject = {
  add(): Promise<string>;
  start(name: string, slots: number, leased: (jobId: string) => void): ChildProcess;
  stop(): Promise<void>;
};

const NEVER_MS = 1_000_000_000;

/** Our queue, with simulated nodes over HTTP. */
export function crashOurs({ control }: Awaited<ReturnType<typeof startServices>>): CrashSubject {
  const nodeApiUrl = `http://127.0.0.1:${control.ports.node_api}`;
  const api = `http://127.0.0.1:${control.ports.http}/api/v1`;
  const headers = { authorization: `Bearer ${API_KEY}` };
  return {
    async add() {
      const [geo] = (await (await fetch(`${api}/geos`, { headers })).json()) as { country_code: string }[];
      const page = { url: 'https://shop.example/', country_code: geo?.country_code, emulator_id: 'windows_chrome' };
      const answer = await fetch(`${api}/scans`, { method: 'POST', headers, body: JSON.stringify(page) });
      return ((await answer.json()) as { id: string }).id;
    },
    start(prefix, slots, leased) {
      const address = { nodeApiUrl, joinToken: NODE_TOKEN };
      return new SimulatedFleet({ prefix, nodes: 1, slots, captureMs: [NEVER_MS, NEVER_MS], ...address }, leased)
        .process;
    },
    stop: async () => undefined,
  };
}

/** BullMQ with its defaults, on the Redis at `url`. */
export function crashBull(url: string): CrashSubject {
  const opened = openRedis(url, createLogger('bench', 'silent'));
  const connection = opened.duplicate({ maxRetriesPerRequest: null, enableOfflineQueue: true, commandTimeout: 60_000 });
  const queue = new Queue('crash', { connection });
  return {
    add: async () => (await queue.add('scan', {})).id ?? '',
    start(_, slots, leased) {
      const worker = fork(join(import.meta.dirname, 'crash-worker.ts'), [url, String(slots)]);
      worker.on('message', ({ jobId }: { jobId: string }) => leased(jobId));
      return worker;
    },
    async stop() {
      await queue.close();
      for (const one of [connection, opened]) one.disconnect();
    },
  };
}

/**
 * Seconds from SIGKILL of one of a farm's two browser nodes to the next time that each of `count` pages is asked for, all of which it was
 * loading; the loads began `apartMs` apart.
 */
export async function crashFarm(count: number, apartMs: number): Promise<number[]> {
  const loads = new Map<string, number[]>();
  // The first load of each page never ends.
  const site = createServer(({ url = '' }, answer) => {
    const times = [...(loads.get(url) ?? []), performance.now()];
    loads.set(url, times);
    if (times.length > 1) answer.end('<title>A page</title>');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  const exits = writeExits(folder, { 'slow.example': `127.0.0.1:${(site.address() as AddressInfo).port}` });
  const farm = new RunningFarm({ ADSWEEP_EXITS_FILE: exits, ADSWEEP_NODES: '2', ADSWEEP_SLOTS: String(count) });
  const loadOf = async (page: string, ordinal: number): Promise<number> => {
    for (;;) {
      const at = loads.get(page)?.[ordinal];
      if (at !== undefined) return at;
      await pause(10);
    }
  };
  const tellSecondNode = async (verb: string, state: string) => {
    await farm.call('POST', `/api/v1/fleet/nodes/local-2/${verb}`);
    const nodes = async () => (await farm.call('GET', `/api/v1/fleet/nodes?state=${state}`)).text();
    while (!(await nodes()).includes('local-2')) await pause(100);
  };
  try {
    await farm.ready();
    await tellSecondNode('drain', 'drained');
    const pages = Array.from({ length: count }, (_, at) => `/page-${at}`);
    for (const page of pages) {
      await farm.submit({ url: `http://slow.example${page}` });
      await pause(apartMs);
    }
    await Promise.all(pages.map((page) => loadOf(page, 0)));
    await tellSecondNode('undrain', 'working');
    const killedAt = performance.now();
    process.kill(farm.pidOf('browser-node 1'), 'SIGKILL');
    return await Promise.all(pages.map(async (page) => ((await loadOf(page, 1)) - killedAt) / 1000));
  } finally {
    await farm.close();
    site.closeAllConnections();
    site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
