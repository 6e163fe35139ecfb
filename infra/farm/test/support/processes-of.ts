import { readdirSync, readFileSync } from 'node:fs';

/** The folder for temporary files of the farm in `dataDir`; all its processes have it in their environment. */
export const temporaryFolder = (dataDir: string): string => `${dataDir}.tmp`;

/** Process ids and command lines of a farm's processes, including browsers: those with its temporary folder in their environment. Linux only. */
export function processesOf(dataDir: string): string[] {
  return processIds()
    .filter((pid) => Number(pid) !== process.pid)
    .filter((pid) => environmentOf(pid).includes(`TMPDIR=${temporaryFolder(dataDir)}`))
    .map((pid) => `${pid} ${commandOf(pid)}`);
}

/** Process ids of all descendants of a process. */
export function descendantsOf(ancestor: number): string[] {
  const parents = new Map(processIds().map((pid) => [pid, /^PPid:\s*(\d+)/m.exec(read(pid, 'status'))?.[1] ?? '']));
  const isBelow = (pid: string | undefined): boolean =>
    pid !== undefined && (pid === String(ancestor) || isBelow(parents.get(pid)));
  return [...parents.keys()].filter((pid) => pid !== String(ancestor) && isBelow(pid));
}

export const environmentOf = (pid: string): string => read(pid, 'environ');
export const commandOf = (pid: string): string => read(pid, 'cmdline').replaceAll('\0', ' ');

const processIds = (): string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
