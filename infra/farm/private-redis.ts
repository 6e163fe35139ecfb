import { existsSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, Part } from './part.ts';
import { partEnvironment } from './part-environment.ts';

/**
 * A Redis of our own: no port, a socket in the data folder, an append-only file. It is told to die with its parent where the system
 * can do that, so that a killed supervisor leaves none behind. A socket's path may have 107 bytes: a longer one goes to a
 * folder that `shortDir` makes.
 */
export function privateRedis(dataDir: string, shortDir: () => string, logDir: string, say: (text: string) => void) {
  const dir = join(dataDir, 'redis');
  mkdirSync(dir, { recursive: true });
  const ownSocket = join(dir, 'redis.sock');
  const socket = Buffer.byteLength(ownSocket) <= 100 ? ownSocket : join(shortDir(), 'redis.sock');
  const redis = ['redis-server', '--port', '0', '--unixsocket', socket, '--unixsocketperm', '600', '--save', ''].concat(
    ['--appendonly', 'yes', '--dir', dir, '--daemonize', 'no', '--loglevel', 'notice'],
  );
  const dyingWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM', '--'] : [];
  const [command = '', ...args] = [...dyingWithUs, ...redis];
  const part = new Part({
    name: 'redis',
    command,
    args,
    env: partEnvironment(null, {}),
    logFile: join(logDir, 'redis.log'),
    isReady: async (child) => {
      while (isAlive(child) && !(await answersPing(socket))) await sleep(10);
      return {};
    },
    say,
  });
  return { part, url: `unix://${socket}` };
}

/** Whether a Redis that has loaded its data listens on this socket. */
function answersPing(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => connection.write('PING\r\n'));
    const answer = (is: boolean) => {
      connection.destroy();
      resolve(is);
    };
    connection.setTimeout(1_000, () => answer(false));
    connection.once('data', (bytes) => answer(bytes.toString().startsWith('+PONG')));
    connection.once('error', () => answer(false));
    connection.once('end', () => answer(false));
  });
}
