import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeProfile } from './chromium-account.ts';
import { profilePrefix } from './chromium-process.ts';
import { isAlive } from './is-alive.ts';

const PROFILE = /^adsweep-chromium-(\d+)-/;

/** Removes the browser profiles of processes that were killed before they could. Returns how many there were. */
export async function sweepProfiles(directory = tmpdir()): Promise<number> {
  const names = await readdir(directory);
  const orphans = names.filter((name) => isOrphan(name));
  await Promise.all(orphans.map((name) => removeProfile(join(directory, name))));
  return orphans.length;
}

function isOrphan(name: string): boolean {
  const pid = Number(PROFILE.exec(name)?.[1]);
  return pid > 0 && name.startsWith(profilePrefix(pid)) && !isAlive(pid);
}
