import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { freePort } from '../../../shared/test/support/free-port.ts';
import { until } from '../../../shared/test/support/until.ts';
import { openRedis, redisReady } from '../../src/platform/redis.ts';

const SLOTS = 16_384;
const MASTERS = 3;

/** A Redis Cluster of three masters on free ports of this machine. */
export async function startRedisCluster() {
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-cluster-'));
  const ports = await Promise.all(Array.from({ length: MASTERS }, () => Promise.all([freePort(), freePort()])));
  const servers = ports.map(([port, bus], n) => {
    const own = ['--port', `${port}`, '--cluster-port', `${bus}`, '--cluster-config-file', `nodes-${n}.conf`];
    const all = ['--bind', '127.0.0.1', '--cluster-enabled', 'yes', '--save', '', '--dir', folder];
    return { port, bus, child: spawn('redis-server', [...own, ...all], { stdio: 'ignore' }) };
  });
  const clients = servers.map(({ port }) => openRedis(`redis://127.0.0.1:${port}`, createLogger('test', 'silent')));
  await Promise.all(clients.map((client) => redisReady(client, 30_000)));
  const share = Math.ceil(SLOTS / MASTERS);
  for (const [n, client] of clients.entries()) {
    await client.call('CLUSTER', 'ADDSLOTSRANGE', n * share, Math.min(SLOTS, (n + 1) * share) - 1);
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1);
  }
  for (const { port, bus } of servers.slice(1)) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', port, bus);
  const isWhole = async (client: (typeof clients)[0]) =>
    /cluster_state:ok[\s\S]*cluster_known_nodes:3/.test(String(await client.call('CLUSTER', 'INFO')));
  await until('the cluster', async () => (await Promise.all(clients.map(isWhole))).every(Boolean), 60);
  const url = `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;

  return {
    url,
    /** How many keys each master has. */
    sizes: () => Promise.all(clients.map((client) => client.dbsize())),
    async stop(): Promise<void> {
      for (const client of clients) client.disconnect();
      for (const { child } of servers) {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
