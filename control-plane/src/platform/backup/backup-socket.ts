import { rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { type BackedUp, type BackupResult, backUp } from './back-up.ts';

/** The socket of the process that has the store open, in its data folder, which only its owner can enter. */
const NAME = 'backup.sock';
/** The longest path of a socket that every system accepts. */
const PATH_BYTES_MAX = 100;

/** The path of the socket, as short as possible; null: too long. */
function socketIn(dataDir: string): string | null {
  const [absolute, fromHere] = [join(dataDir, NAME), relative('.', join(dataDir, NAME))];
  const shorter = fromHere.length < absolute.length ? fromHere : absolute;
  return Buffer.byteLength(shorter) <= PATH_BYTES_MAX ? shorter : null;
}

/**
 * Makes backups for `npm run backup` of the same machine, one after the other, while this process has the store open.
 * Returns the function that stops listening and waits for a backup under way.
 */
export async function serveBackups(parts: BackedUp, logger: Logger): Promise<() => Promise<void>> {
  const path = socketIn(parts.dataDir);
  if (!path) {
    logger.warn(
      { folder: parts.dataDir },
      'the path of the data folder is too long for backups while this process runs',
    );
    return async () => {};
  }
  let running: Promise<unknown> = Promise.resolve();
  const answer = async (request: Readable): Promise<{ result: BackupResult } | { problem: string }> => {
    try {
      const folder = String(JSON.parse(await text(request)).folder);
      const work = running.then(() => backUp(parts, folder));
      running = work.catch(() => undefined);
      const result = await work;
      logger.info(result, 'a backup was made');
      return { result };
    } catch (cause) {
      logger.error({ cause }, 'a backup failed');
      return { problem: (cause as Error).message };
    }
  };
  await rm(path, { force: true });
  const server = createServer(async (incoming, response) => {
    response.end(JSON.stringify(await answer(incoming)));
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(path, resolve);
  await listening;
  return async () => {
    await running;
    await new Promise((closed) => server.close(closed).closeAllConnections());
  };
}

/**
 * Asks the process that has the store in `dataDir` open for a backup; null: no process has. Throws OperatorError when
 * it fails.
 */
export async function requestBackup(dataDir: string, folder: string): Promise<BackupResult | null> {
  const socketPath = socketIn(dataDir);
  if (!socketPath) return null;
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  request({ socketPath, method: 'POST', agent: false }, (response) => text(response).then(resolve, reject))
    .on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? resolve(null) : reject(error),
    )
    .end(JSON.stringify({ folder }));
  const answer = await promise;
  if (answer === null) return null;
  const { result, problem } = JSON.parse(answer) as { result?: BackupResult; problem?: string };
  if (!result) throw new OperatorError(`the backup failed: ${problem}`);
  return result;
}
