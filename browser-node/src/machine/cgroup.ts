import { readFileSync } from 'node:fs';

/** Control groups of Linux, versions 1 and 2 (cgroups(7), the kernel's admin-guide/cgroup-v2.rst and cgroup-v1). */

/** Reads a text file; null where it does not exist or may not be read. */
export type ReadText = (path: string) => string | null;

/** A limit that a group sets for all processes in it. `dir`: its folder. */
export type GroupLimit = { version: 1 | 2; dir: string; limit: number };

/** The tightest limits on this process: bytes of memory, and CPU in cores. null: there is none. */
export type CgroupLimits = { memory: GroupLimit | null; cpu: GroupLimit | null };

const MOUNT = '/sys/fs/cgroup';
/** Version 1 represents "no limit" by the largest multiple of the page size that fits into 63 bits. */
const UNLIMITED_BYTES = 2 ** 60;

/** The limits of the groups that the process is in, and of all groups above them. */
export function cgroupLimits(read: ReadText): CgroupLimits {
  const lines = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'));
  return {
    memory: tightest([...groups(lines, 'memory', memoryLimit(read))]),
    cpu: tightest([...groups(lines, 'cpu', cpuLimit(read))]),
  };
}

type LimitOf = (version: 1 | 2, dir: string) => number | null;

/** The limits in the groups of one controller, of either version. */
function* groups(lines: string[][], controller: string, limitOf: LimitOf): Generator<GroupLimit> {
  for (const [, controllers = '', ...path] of lines) {
    const version = controllers === '' ? 2 : 1;
    if (version === 1 && !controllers.split(',').includes(controller)) continue;
    const mount = version === 2 ? MOUNT : `${MOUNT}/${controller}`;
    for (const dir of upwards(mount, path.join(':'))) {
      const limit = limitOf(version, dir);
      if (limit !== null) yield { version, dir, limit };
    }
  }
}

/**
 * The folder of a group and those of the groups above it. In a container the path may be the host's: then only the
 * mount itself exists.
 */
function upwards(mount: string, path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '..');
  return Array.from({ length: names.length + 1 }, (_, up) => [mount, ...names.slice(0, names.length - up)].join('/'));
}

const tightest = (limits: GroupLimit[]): GroupLimit | null => limits.toSorted((a, b) => a.limit - b.limit)[0] ?? null;

const memoryLimit =
  (read: ReadText): LimitOf =>
  (version, dir) => {
    const bytes = numberIn(read(`${dir}/${version === 2 ? 'memory.max' : 'memory.limit_in_bytes'}`));
    return bytes !== null && bytes < UNLIMITED_BYTES ? bytes : null;
  };

const cpuLimit =
  (read: ReadText): LimitOf =>
  (version, dir) => {
    const [quota = '', period = ''] =
      version === 2
        ? (read(`${dir}/cpu.max`) ?? '').split(/\s+/)
        : [read(`${dir}/cpu.cfs_quota_us`) ?? '', read(`${dir}/cpu.cfs_period_us`) ?? ''];
    const cores = (numberIn(quota) ?? 0) / (numberIn(period) || Number.NaN);
    return cores > 0 ? cores : null;
  };

/** A text as a whole number; null for `max`, -1 and other texts. */
const numberIn = (text: string | null): number | null => (text && /^\d+\s*$/.test(text) ? Number(text) : null);

/**
 * Bytes that the group of a memory limit uses, without file cache that can be dropped at once; null where it is not
 * known.
 */
export function usedMemory(read: ReadText, { version, dir }: GroupLimit): number | null {
  const used = numberIn(read(`${dir}/${version === 2 ? 'memory.current' : 'memory.usage_in_bytes'}`));
  const droppable = field(read(`${dir}/memory.stat`), version === 2 ? 'inactive_file' : 'total_inactive_file');
  return used === null ? null : Math.max(0, used - (droppable ?? 0));
}

/** CPU time that the group of a CPU limit has used so far, in microseconds; null where it is not known. */
export function usedCpuMicros(read: ReadText, { version, dir }: GroupLimit): number | null {
  if (version === 2) return field(read(`${dir}/cpu.stat`), 'usage_usec');
  const nanos = numberIn(read(`${dir.replace(`${MOUNT}/cpu`, `${MOUNT}/cpuacct`)}/cpuacct.usage`));
  return nanos === null ? null : nanos / 1000;
}

/** The number after a name at the beginning of a line. */
export function field(text: string | null, name: string): number | null {
  const line = text?.split('\n').find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}:`));
  const number = Number.parseInt(line?.slice(name.length + 1) ?? '', 10);
  return Number.isNaN(number) ? null : number;
}

/** The text of a small file of /proc or /sys; null where it does not exist or may not be read. */
export function readFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
