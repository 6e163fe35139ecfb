import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { rememberBriefly } from './remember-briefly.ts';

/** A disk takes nothing: its free space is below the floor, or no file can be created on it. Uploads are refused. */
class DiskFull extends Error {}

/** The disks that files are written to. */
export type DiskSpace = {
  /** Rejects with {@link DiskFull} while one of them takes nothing. */
  requireFree(): Promise<void>;
  /** Free space above the floor in bytes, of the disk that has least; negative below the floor. */
  freeAboveFloor(): Promise<number>;
};

/** How long a file that could be created counts, in ms. */
const WRITABLE_MS = 1_000;

/**
 * Measures the disks of `folders`. One counts as full with less than `floorBytes` of free space, and while no file can
 * be created in its folder: after an error of the device Linux makes a disk read-only, and its free space says nothing
 * of that.
 */
export function diskSpace(folders: readonly string[], floorBytes: number): DiskSpace {
  const freeAboveFloor = async () => {
    const all = await Promise.all(folders.map((folder) => statfs(folder)));
    return Math.min(...all.map(({ bavail, bsize }) => bavail * bsize)) - floorBytes;
  };
  const requireWritable = rememberBriefly(createAndRemove, WRITABLE_MS);
  return {
    freeAboveFloor,
    async requireFree() {
      const free = await freeAboveFloor();
      if (free < 0) throw new DiskFull(`${free + floorBytes} bytes are free, less than the floor of ${floorBytes}`);
      await Promise.all(folders.map((folder) => requireWritable(join(folder, `.written-${process.pid}`))));
    },
  };
}

async function createAndRemove(path: string): Promise<void> {
  try {
    await (await open(path, 'w', 0o600)).close();
    await rm(path, { force: true });
  } catch (cause) {
    throw new DiskFull(`no file can be created: ${(cause as Error).message}`, { cause });
  }
}

/** A read-only disk takes as little as a full one, and neither is the request's fault. */
const DISK_FULL_CODES: unknown[] = ['ENOSPC', 'EDQUOT', 'EROFS'];
/** SQLITE_FULL and SQLITE_READONLY. */
const SQLITE_FULL_CODES: unknown[] = [13, 8];
const MONGODB_OUT_OF_DISK_SPACE = 14031;
/** Redis refuses writes: no memory left (`noeviction`), or its own files cannot be written. */
const REDIS_FULL = /^(OOM|MISCONF) /;

/** Whether an error, or its cause, means that a disk or a store takes nothing more. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (error instanceof DiskFull || DISK_FULL_CODES.includes(code) || REDIS_FULL.test(error.message)) return true;
  return SQLITE_FULL_CODES.includes(errcode) || code === MONGODB_OUT_OF_DISK_SPACE || isDiskFull(error.cause);
}
