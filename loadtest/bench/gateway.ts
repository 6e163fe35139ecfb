import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import { ExitIndex } from '../../proxy-router/src/exits/exit-index.ts';
import { pickExit } from '../../proxy-router/src/exits/pick-exit.ts';
import { environmentWith } from './config.ts';
import { cpuSecondsOfTree, memoryOfTree } from './cpu-of-tree.ts';
import { download, type MeasuredProxy, openTunnel, requestMs, startLoadTarget } from './gateway-load.ts';
import { machine, median, medianAndRange, percentile, saveResult } from './report.ts';

/** What the gateway costs beside a bare proxy-chain server, how many tunnels it holds, and what a pick costs. */
const ROUNDS = 7;
const TUNNELS = 8;
const GB = 1e9;
const DOWNLOAD_BYTES = 0.5 * GB;
const HELD_TUNNELS = 2_000;
const REQUESTS = 2_000;
const CONNECTIONS = 4_000;
const EXITS = [10, 1_000_000];
const PICKS = 20_000;

type Measured = { name: string; child: ChildProcess; proxy: MeasuredProxy };
const started: ChildProcess[] = [];
const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
const targetPort = await startLoadTarget();

function start(script: string, env: NodeJS.ProcessEnv): ChildProcess {
  const child = fork(join(import.meta.dirname, script), { env: environmentWith(env) });
  started.push(child);
  return child;
}

async function startBare(): Promise<Measured> {
  const child = start('bare-proxy.ts', {});
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { name: 'proxy-chain', child, proxy: { port, authorization: basic('a:b'), host: '127.0.0.1' } };
}

async function startRouter(name: string): Promise<Measured> {
  const token = 'node-token-of-the-benchmark';
  const exit = { id: 'us', country_code: 'US', proxy_type: 'residential', pool_size: 1, provider: 'direct' };
  const file = join(folder, 'exits.json');
  writeFileSync(file, JSON.stringify({ exits: [exit], hosts: { 'target.test': `127.0.0.1:${targetPort}` } }));
  const child = start('../../proxy-router/src/main.ts', {
    ADSWEEP_PROXY_PORT: '0',
    ADSWEEP_DATA_DIR: join(folder, name),
    ADSWEEP_EXITS_FILE: file,
    ADSWEEP_NODE_TOKEN: token,
    ADSWEEP_TICKET_SECRET: 'ticket-secret-of-the-benchmark',
    ADSWEEP_TICKET_BYTES_MAX: String(1000 * GB),
    ADSWEEP_GATEWAY_REQUESTS_PER_SECOND: '1000000',
  });
  const [{ ports }] = (await once(child, 'message')) as [Ready];
  const targeting = { country_code: 'US', proxy_type: 'residential', region: '', city: '', isp: '' };
  const answer = await fetch(`http://127.0.0.1:${ports.api}/exits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ targeting, session: 's', scan_id: 'bench', ttl_seconds: 3600 }),
  });
  const { username, password } = (await answer.json()) as ExitTicket;
  const authorization = basic(`${username}:${password}`);
  return { name: 'gateway', child, proxy: { port: ports.gateway!, authorization, host: 'target.test' } };
}

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

/** Bytes a second, and seconds of the proxy's CPU per GB. */
async function carry({ child, proxy }: Measured): Promise<{ speed: number; cpu: number }> {
  const [began, cpu] = [performance.now(), cpuSecondsOfTree(child.pid!)];
  await download(proxy, targetPort, TUNNELS, DOWNLOAD_BYTES);
  const seconds = (performance.now() - began) / 1000;
  return { speed: DOWNLOAD_BYTES / seconds, cpu: ((cpuSecondsOfTree(child.pid!) - cpu) * GB) / DOWNLOAD_BYTES };
}

/** Connections a second, and microseconds of the proxy's CPU for each: a tunnel that carries one message and its echo. */
async function connect({ child, proxy }: Measured): Promise<{ rate: number; cpu: number }> {
  const [began, cpu] = [performance.now(), cpuSecondsOfTree(child.pid!)];
  let left = CONNECTIONS;
  const worker = async () => {
    while (left-- > 0) {
      const socket = await openTunnel(proxy, targetPort);
      socket.write('ping');
      await once(socket, 'data');
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: TUNNELS }, worker));
  const seconds = (performance.now() - began) / 1000;
  return { rate: CONNECTIONS / seconds, cpu: ((cpuSecondsOfTree(child.pid!) - cpu) * 1e6) / CONNECTIONS };
}

/** KiB of the proxy's memory for each idle tunnel that has carried data, with all tunnels open at once. */
async function hold({ child, proxy }: Measured): Promise<number> {
  const before = memoryOfTree(child.pid!);
  const sockets = [];
  for (let count = 0; count < HELD_TUNNELS; count += 1) sockets.push(await openTunnel(proxy, targetPort));
  for (const socket of sockets) {
    socket.write('ping');
    await once(socket, 'data');
  }
  const after = memoryOfTree(child.pid!);
  for (const socket of sockets) socket.destroy();
  return ((after - before) * 1024) / HELD_TUNNELS;
}

async function latencies(proxy: MeasuredProxy | null): Promise<number[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const all: number[] = [];
  for (let count = 0; count < REQUESTS; count += 1) all.push(await requestMs(proxy, targetPort, agent));
  agent.destroy();
  return all.slice(REQUESTS / 10);
}

/** Microseconds of a pick among `count` exits, without the first pick of each targeting. */
function pickMicroseconds(count: number): number {
  const exits = Array.from({ length: count }, (_, at) => ({
    id: `exit-${at}`,
    country_code: 'US',
    proxy_type: 'residential' as const,
    pool_size: 1 + (at % 100),
    provider: 'direct',
  }));
  const index = new ExitIndex(exits, []);
  const targeting = { country_code: 'US', proxy_type: 'residential' as const, region: '', city: '', isp: '' };
  const conditions = { stateOf: () => 'available' as const, scoreOf: () => 1 };
  const rounds = Array.from({ length: ROUNDS }, (_, round) => {
    const began = performance.now();
    for (let at = 0; at < PICKS; at += 1) pickExit(index.select(targeting), `session-${round}-${at}`, conditions);
    return ((performance.now() - began) * 1000) / PICKS;
  });
  return median(rounds.slice(1));
}

try {
  const both = [await startBare(), await startRouter('warm')];
  const carried = new Map(both.map(({ name }) => [name, [] as { speed: number; cpu: number }[]]));
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const one of round % 2 ? both : both.toReversed()) {
      const result = await carry(one);
      // The first round is for the compilers.
      if (round > 0) carried.get(one.name)!.push(result);
    }
  const connected = new Map(both.map(({ name }) => [name, [] as { rate: number; cpu: number }[]]));
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const one of round % 2 ? both : both.toReversed()) {
      const result = await connect(one);
      if (round > 0) connected.get(one.name)!.push(result);
    }
  const direct = await latencies(null);
  const rows = [];
  for (const one of both) {
    const [results, times] = [carried.get(one.name)!, await latencies(one.proxy)];
    // In a process that has carried nothing else yet.
    const memory = await hold(await (one.name === 'gateway' ? startRouter('fresh') : startBare()));
    const added = (share: number) => (percentile(times, share) - percentile(direct, share)).toFixed(2);
    const speed = median(results.map((result) => result.speed)) / 1e6;
    const cpu = median(results.map((result) => result.cpu));
    rows.push(
      `| ${one.name} | ${speed.toFixed(0)} | ${cpu.toFixed(2)} | ${added(0.5)} | ${added(0.99)} | ${memory.toFixed(0)} |`,
    );
  }
  const connecting = both.map(({ name }) => {
    const results = connected.get(name)!;
    const rates = medianAndRange(
      results.map(({ rate }) => rate),
      0,
    );
    return `| ${name} | ${rates} | ${medianAndRange(
      results.map(({ cpu }) => cpu),
      0,
    )} |`;
  });
  const picks = EXITS.map((count) => [count, pickMicroseconds(count)] as const);
  saveResult('gateway', [
    '# The gateway beside a bare proxy-chain server',
    `Both in a process of their own, with client and target in another. Medians of ${ROUNDS} interleaved rounds of ${DOWNLOAD_BYTES / 1e6} MB over ${TUNNELS} tunnels; added latency of ${REQUESTS} plain requests, one after the other, over a direct one; memory of ${HELD_TUNNELS} tunnels that were open at once, each of which had carried something.`,
    [
      '| Proxy | MB a second | CPU s per GB | Added ms, median | Added ms, p99 | KiB per idle tunnel |',
      '|---|--:|--:|--:|--:|--:|',
      ...rows,
    ].join('\n'),
    `New connections, ${TUNNELS} at once, each of which carries one message and its echo: medians and ranges of ${ROUNDS} interleaved rounds of ${CONNECTIONS.toLocaleString('en-US')}. Of each, the gateway checks the ticket, the rate and the address, and counts bytes and outcomes.`,
    ['| Proxy | connections a second | µs of CPU a connection |', '|---|--:|--:|', ...connecting].join('\n'),
    'What a pick costs, for sessions that are new:',
    [
      '| Exits | Microseconds |',
      '|--:|--:|',
      ...picks.map(([count, us]) => `| ${count.toLocaleString('en-US')} | ${us.toFixed(1)} |`),
    ].join('\n'),
    `Machine: ${machine()}.`,
  ]);
} finally {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
