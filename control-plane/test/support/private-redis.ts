import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { openRedis, type RedisClient, redisReady } from '../../src/platform/redis.ts';

/**
 * A redis-server of one's own on a socket in a new folder. `kill` ends it as a crash would; `start` begins it again,
 * empty.
 */
export type PrivateRedis = {
  url: string;
  /** The file of its socket. */
  socket: string;
  client: RedisClient;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
};

const START_MS = 60_000;

export async function startRedis(): Promise<PrivateRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-redis-'));
  const socket = join(folder, 'redis.sock');
  const url = `unix://${socket}`;
  const launch = () =>
    spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder], { stdio: 'ignore' });
  let server = launch();
  const client = openRedis(url, createLogger('test', 'silent'));
  await redisReady(client, START_MS);

  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    // A command that is on its way makes the connection end with an error.
    const closed = new Promise<void>((resolve) => client.once('close', resolve));
    const gone = Promise.all([once(server, 'exit'), client.status === 'ready' ? closed : null]);
    server.kill('SIGKILL');
    await gone;
  };
  return {
    url,
    socket,
    client,
    kill,
    async start() {
      server = launch();
      await redisReady(client, START_MS);
    },
    async stop() {
      client.disconnect();
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
