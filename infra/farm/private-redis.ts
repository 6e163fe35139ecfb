import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { FarmProcess, isAlive } from './farm-process.ts';
import { processEnvironment } from './process-environment.ts';
import { untilLoaded } from './redis-loading.ts';

/**
 * A Redis of our own: no port, a socket in the data folder, an append-only file. It is told to die with its parent where the system
 * can do that, so that a killed supervisor leaves none behind. A socket's path may have 107 bytes: a longer one goes to a
 * folder that `shortDir` makes.
 */
export function privateRedis(
  dataDir: string,
  shortDir: () => string,
  logDir: string,
  say: (text: string) => void,
  silenceMs?: number,
) {
  const logFile = join(logDir, 'redis.log');
  const dir = join(dataDir, 'redis');
  mkdirSync(dir, { recursive: true });
  const ownSocket = join(dir, 'redis.sock');
  const socket = Buffer.byteLength(ownSocket) <= 100 ? ownSocket : join(shortDir(), 'redis.sock');
  const redis = ['redis-server', '--port', '0', '--unixsocket', socket, '--unixsocketperm', '600', '--save', ''].concat(
    ['--appendonly', 'yes', '--dir', dir, '--daemonize', 'no', '--loglevel', 'notice'],
    // It holds the index of work: nothing in it may be given up for want of memory.
    ['--maxmemory-policy', 'noeviction', '--logfile', logFile],
  );
  const dyingWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM', '--'] : [];
  const [command = '', ...args] = [...dyingWithUs, ...redis];
  const supervised = new FarmProcess({
    name: 'redis',
    command,
    args,
    env: processEnvironment(null, {}),
    logFile,
    opensLogByName: true,
    isReady: async (child) => {
      await untilLoaded(socket, () => isAlive(child), say, silenceMs);
      return {};
    },
    say,
  });
  return { supervised, url: `unix://${socket}` };
}
