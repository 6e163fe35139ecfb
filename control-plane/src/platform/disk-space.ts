import { statfs } from 'node:fs/promises';

/** The free disk space is below the floor: uploads are refused. */
class DiskFull extends Error {}

/** The free space of the disk that files are written to. */
export type DiskSpace = {
  /** Rejects with {@link DiskFull} below the floor. */
  requireFree(): Promise<void>;
};

/** Measures the disk of `folder`; with less than `floorBytes` of free space it counts as full. */
export function diskSpace(folder: string, floorBytes: number): DiskSpace {
  return {
    async requireFree() {
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      if (free < floorBytes) throw new DiskFull(`${free} bytes are free, less than the floor of ${floorBytes}`);
    },
  };
}

const DISK_FULL_CODES: unknown[] = ['ENOSPC', 'EDQUOT'];
const SQLITE_FULL = 13;
const MONGODB_OUT_OF_DISK_SPACE = 14031;
/** Redis refuses writes: no memory left (`noeviction`), or its own files cannot be written. */
const REDIS_FULL = /^(OOM|MISCONF) /;

/** Whether an error, or its cause, means that a disk or a store is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (error instanceof DiskFull || DISK_FULL_CODES.includes(code) || REDIS_FULL.test(error.message)) return true;
  return errcode === SQLITE_FULL || code === MONGODB_OUT_OF_DISK_SPACE || isDiskFull(error.cause);
}
