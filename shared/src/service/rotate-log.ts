import { appendFileSync, closeSync, openSync, readSync, renameSync, statSync, truncateSync } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import type { Logger } from './logger.ts';

/**
 * The parent's request to rotate a log that has grown too large. `file`: the file that our standard output is appended
 * to.
 */
export type RotateLog = { type: 'rotate-log'; file: string };

/**
 * Moves the contents of a log file to `<file>.1`, in place of what was there. The process that writes the log does this
 * itself, because only that process can do it between two of its lines: no line is lost or split. Its output must be
 * appended to the file, unbuffered. Alternatives: a pipe to the parent or to a logger loses lines when its reader ends,
 * and can block the writer; a logger that opens a file of its own misses what goes to standard error, such as the last
 * words of a crash.
 */
async function rotateLog(file: string): Promise<void> {
  const copy = `${file}.1.new`;
  await copyFile(file, copy);
  const { size } = await stat(copy);
  // What was written during the copy. From here to the end nothing else runs in this process, so nothing more is
  // written.
  appendFileSync(copy, readFrom(file, size));
  // In this order: a process that is killed between the two leaves lines in both files, and its next rotation replaces
  // the older copy.
  renameSync(copy, `${file}.1`);
  truncateSync(file);
}

function readFrom(file: string, start: number): Buffer {
  const bytes = Buffer.alloc(statSync(file).size - start);
  const open = openSync(file, 'r');
  try {
    readSync(open, bytes, 0, bytes.length, start);
  } finally {
    closeSync(open);
  }
  return bytes;
}

/** Rotates this process' log when its parent asks. A request during a rotation is ignored: the parent asks again. */
export function rotateLogWhenAsked(logger: Logger): void {
  let rotating = false;
  process.on('message', async (message: RotateLog) => {
    if (message?.type !== 'rotate-log' || rotating) return;
    rotating = true;
    await rotateLog(message.file).catch((cause) => logger.warn({ cause }, 'the log was not rotated'));
    rotating = false;
  });
}
