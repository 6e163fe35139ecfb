import { execFile } from 'node:child_process';
import { chown, lstat, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A system user and its group, by number; without supplementary groups. */
export type Account = { uid: number; gid: number };

const isRoot = (): boolean => process.getuid?.() === 0;

/** The account that Chromium runs under; null: that of this process, which is not root and may choose none. */
export const chromiumAccount = (uid: number): Account | null => (isRoot() ? { uid, gid: uid } : null);

/** Creates a profile that only Chromium's account and root can read. Its name begins with `prefix`. Returns its path. */
export async function makeProfile(prefix: string, account: Account | null): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  if (account) await chown(directory, account.uid, account.gid);
  return directory;
}

/**
 * Removes a profile with everything in it. Root does so with its owner's rights: a remaining process of Chromium's account could
 * otherwise replace a folder with a link and have something else removed.
 */
export async function removeProfile(directory: string): Promise<void> {
  const owner = await lstat(directory).catch(() => null);
  if (!owner) return;
  if (!isRoot() || owner.uid === 0) return rm(directory, { recursive: true, force: true, maxRetries: 3 });
  const asOwner = { uid: owner.uid, gid: owner.gid, cwd: '/', env: {} };
  // The folder that it stands in need not be open to its owner, so the last step is ours.
  await promisify(execFile)('/bin/rm', ['-rf', '--', directory], asOwner).catch(() => undefined);
  await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
