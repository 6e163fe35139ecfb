import { readdirSync, readFileSync } from 'node:fs';

/** Process ids and command lines of all that belongs to a farm: the data folder is in their environment. Linux only. */
export function processesOf(dir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(`/proc/${pid}/environ`).includes(`ADSWEEP_DATA_DIR=${dir}\0`))
    .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
