import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FarmProcess, isAlive } from './farm-process.ts';
import { processEnvironment } from './services.ts';

/**
 * A private Redis: no port, a socket in the data folder, an append-only file. Where the system supports it, Redis gets a signal when its
 * parent dies, so that a killed supervisor leaves none behind. A socket's path has at most 107 bytes; for a longer one, `shortDir`
 * creates a folder. `setDataAside`: for a Redis that ended at its start, moves its data to `redis.unreadable`; returns that folder, null = it
 * has none. A power cut can leave bytes in the file that Redis refuses to read, and the index is rebuilt from the records.
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
    // It holds the index of work: no key may be evicted.
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
  const setDataAside = (): string | null => {
    if (!readdirSync(dir).some((name) => name.startsWith('appendonly'))) return null;
    const aside = `${dir}.unreadable`;
    rmSync(aside, { recursive: true, force: true });
    renameSync(dir, aside);
    mkdirSync(dir);
    return aside;
  };
  return { supervised, url: `unix://${socket}`, setDataAside };
}

const ANSWER_MS = 5_000;
/** How long a starting Redis may stay silent before its start has failed. */
const SILENCE_MS = 30_000;
const PROGRESS_EVERY_MS = 2_000;

/**
 * Waits until the Redis at a unix socket has loaded its data, however long that takes, and prints its progress. Returns early when
 * `isRunning` turns false. Throws when Redis has not answered for `silenceMs` milliseconds.
 */
async function untilLoaded(
  socket: string,
  isRunning: () => boolean,
  say: (text: string) => void,
  silenceMs = SILENCE_MS,
): Promise<void> {
  let answeredAt = Date.now();
  let printedAt = Date.now();
  while (isRunning()) {
    const answer = await ask(socket);
    if (answer === 'ready') return;
    if (answer !== null) answeredAt = Date.now();
    if (Date.now() - answeredAt > silenceMs) throw new Error(`it has not answered for ${silenceMs / 1000} s`);
    if (answer !== null && Date.now() - printedAt > PROGRESS_EVERY_MS) {
      printedAt = Date.now();
      say(`  redis is loading its data: ${progressOf(answer)}`);
    }
    await sleep(answer === null ? 10 : 100);
  }
}

/** Progress from the section `persistence` of INFO of a loading Redis. */
function progressOf(info: string): string {
  const [, percent = '0'] = /loading_loaded_perc:([\d.]+)/.exec(info) ?? [];
  const [, seconds = '?'] = /loading_eta_seconds:(\d+)/.exec(info) ?? [];
  return `${Math.floor(Number(percent))} %, about ${seconds} s to go`;
}

/** `ready`, the INFO of a Redis that is still loading, or null if none answers. */
function ask(socket: string): Promise<string | null> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => connection.write('PING\r\nINFO persistence\r\n'));
    let received = '';
    const answer = (what: string | null) => {
      connection.destroy();
      resolve(what);
    };
    connection.setTimeout(ANSWER_MS, () => answer(null));
    connection.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      if (received.startsWith('+PONG')) answer('ready');
      // Redis may have finished loading between the two commands: then INFO has no loading fields.
      else if (/loading_eta_seconds:\d+|\r\nloading:0/.test(received)) answer(received);
    });
    connection.once('error', () => answer(null));
    connection.once('end', () => answer(null));
  });
}
