import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

type ProcessStat = { pid: number; parent: number; ticks: number };

/** CPU seconds that a process and all below it have used, ended and reaped ones included; Linux only (proc(5)). */
export function cpuSecondsOfTree(root: number): number {
  return treeOf(root).reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
}

/** Proportional memory of a process and all below it in MiB: shared pages are divided among the processes that share them. */
export function memoryOfTree(root: number): number {
  return treeOf(root).reduce((sum, { pid }) => sum + proportionalMib(pid), 0);
}

function treeOf(root: number): ProcessStat[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(Number(name)) : []));
  const tree = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of all)
      if (tree.has(parent) && !tree.has(pid)) {
        tree.add(pid);
        grown = true;
      }
  }
  return all.filter(({ pid }) => tree.has(pid));
}

function statOf(pid: number): ProcessStat[] {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 22) return [];
  const at = (index: number) => Number(fields[index]);
  // After the command: state, ppid, ...; utime, stime, cutime and cstime are the 12th to 15th.
  return [{ pid, parent: at(1), ticks: at(11) + at(12) + at(13) + at(14) }];
}

/** Proportional memory of one process in MiB, 0 once it ended. */
export function proportionalMib(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024;
}

/** A process may end between being listed and being read. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
