import { closeSync, openSync, readSync } from 'node:fs';
import { readProc, threadsOf } from './processes.ts';

const BUFFER = Buffer.allocUnsafe(4096);

/**
 * Files of /proc that are read many times a second. They stay open: a read then costs 1 to 2 µs of CPU instead of 10 to
 * 26. Reads are synchronous: /proc never waits for a disk, and the thread pool would cost more.
 */
export class ProcFiles {
  /** File descriptors by process id and name. */
  readonly #open = new Map<number, Map<string, number>>();

  /** The text of a process's file, up to 4 KiB; '' once the process has ended, and where the system has no /proc. */
  read(pid: number, name: string): string {
    try {
      const fd = this.#open.get(pid)?.get(name) ?? this.#opened(pid, name);
      return BUFFER.toString('latin1', 0, readSync(fd, BUFFER, 0, BUFFER.length, 0));
    } catch {
      this.#close(pid);
      return '';
    }
  }

  /** Closes the files of all processes but these. */
  keep(pids: ReadonlySet<number>): void {
    for (const pid of this.#open.keys()) if (!pids.has(pid)) this.#close(pid);
  }

  #opened(pid: number, name: string): number {
    const fd = openSync(`/proc/${pid}/${name}`, 'r');
    const files = this.#open.get(pid) ?? new Map<string, number>();
    this.#open.set(pid, files.set(name, fd));
    return fd;
  }

  #close(pid: number): void {
    for (const fd of this.#open.get(pid)?.values() ?? []) closeSync(fd);
    this.#open.delete(pid);
  }
}

/** A thread, and the process that it is of. */
export type Thread = { pid: number; tid: number };

/**
 * The first thread of a process with this name, of which Linux keeps 15 characters; null: there is none, or the process
 * has ended.
 */
export function threadNamed(pid: number, name: string): Thread | null {
  const tid = threadsOf(pid).find((one) => readProc(pid, `task/${one}/comm`).trim() === name);
  return tid === undefined ? null : { pid, tid };
}
