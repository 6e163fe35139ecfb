import { readdir, readFile } from 'node:fs/promises';

const PAGE_BYTES = 4096;

/**
 * Bytes of memory that the lasting processes of a process group hold: all but Chromium's renderers, which come and go with their
 * pages. null where the system has no /proc.
 */
export async function lastingMemory(groupId: number): Promise<number | null> {
  const entries = await readdir('/proc').catch(() => null);
  if (!entries) return null;
  const pids = entries.filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(pids.map((pid) => residentBytes(pid, groupId)));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function residentBytes(pid: string, groupId: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // After the name in parentheses: state, parent, group, ...; resident pages is the 24th field of all (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) !== groupId) return 0;
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1');
    return command.includes('--type=renderer') ? 0 : Number(fields[21]) * PAGE_BYTES;
  } catch {
    // The process ended while we looked.
    return 0;
  }
}
