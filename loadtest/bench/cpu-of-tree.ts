import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** `ticks`: of the process itself; `reaped`: of its children that ended and were waited for. */
type ProcessStat = { pid: number; parent: number; ticks: number; reaped: number };

/** CPU seconds that a process and all below it have used, ended and reaped ones included; Linux only (proc(5)). */
export function cpuSecondsOfTree(root: number): number {
  return treeOf(root).reduce((sum, { ticks, reaped }) => sum + ticks + reaped, 0) / TICKS_PER_SECOND;
}

/**
 * The same, by the kind of process. `kindOf` names the kind by the command line, with spaces between its arguments; null: not counted, nor is
 * what it waited for. Processes that ended count as `endedKindOf` says of the one that waited for them.
 */
export function cpuSecondsByKind<Kind extends string>(
  root: number,
  kindOf: (command: string) => Kind | null,
  endedKindOf: (command: string) => Kind | null,
): Map<Kind, number> {
  const seconds = new Map<Kind, number>();
  const add = (kind: Kind | null, ticks: number) =>
    kind !== null && seconds.set(kind, (seconds.get(kind) ?? 0) + ticks / TICKS_PER_SECOND);
  for (const { pid, ticks, reaped } of treeOf(root)) {
    const command = commandOf(pid);
    add(kindOf(command), ticks);
    add(endedKindOf(command), reaped);
  }
  return seconds;
}

/** The ids of the processes at and below a process whose command line is as wanted. */
export const processesOfTree = (root: number, isWanted: (command: string) => boolean): number[] =>
  treeOf(root)
    .map(({ pid }) => pid)
    .filter((pid) => isWanted(commandOf(pid)));

const commandOf = (pid: number): string => readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');

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
  return [{ pid, parent: at(1), ticks: at(11) + at(12), reaped: at(13) + at(14) }];
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
