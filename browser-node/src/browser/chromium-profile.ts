import { execFile } from 'node:child_process';
import { chown, lstat, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A system user and its group, by number; without supplementary groups. */
export type Account = { uid: number; gid: number };

const isRoot = (): boolean => process.getuid?.() === 0;

/** The account that Chromium runs under; null: the same as this process, which is not root and cannot switch. */
export const chromiumAccount = (uid: number): Account | null => (isRoot() ? { uid, gid: uid } : null);

/**
 * Names of profiles contain the pid of the process that created them, so that the profiles of a killed process can be
 * removed.
 */
export const profilePrefix = (pid: number): string => `adsweep-chromium-${pid}-`;

/**
 * Creates a profile that only Chromium's account and root can read. Its name begins with `prefix`. Returns its path.
 */
export async function makeProfile(prefix: string, account: Account | null): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  if (account) await chown(directory, account.uid, account.gid);
  return directory;
}

/**
 * Removes a profile with everything in it. Root removes it with its owner's rights: a remaining process of Chromium's
 * account could otherwise replace a folder by a link and have another folder removed.
 */
export async function removeProfile(directory: string): Promise<void> {
  const owner = await lstat(directory).catch(() => null);
  if (!owner) return;
  if (!isRoot() || owner.uid === 0) return rm(directory, { recursive: true, force: true, maxRetries: 3 });
  const asOwner = { uid: owner.uid, gid: owner.gid, cwd: '/', env: {} };
  // Its owner may not be allowed to write to the parent folder, so root removes the empty folder.
  await promisify(execFile)('/bin/rm', ['-rf', '--', directory], asOwner).catch(() => undefined);
  await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Names of profiles, and of folders with media files of captures. */
const TEMPORARY = /^adsweep-(?:chromium|media)-([1-9]\d*)-/;

/** Removes the browser profiles and media files that killed processes left. Returns how many there were. */
export async function sweepProfiles(directory = tmpdir()): Promise<number> {
  const names = await readdir(directory);
  const orphans = names.filter((name) => isOrphan(name));
  await Promise.all(orphans.map((name) => removeProfile(join(directory, name))));
  return orphans.length;
}

function isOrphan(name: string): boolean {
  const pid = Number(TEMPORARY.exec(name)?.[1]);
  return pid > 0 && !isAlive(pid);
}

/** Whether a process of any user exists. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, and another user owns it.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
