import { appendFileSync, closeSync, openSync, readSync, renameSync, statSync, truncateSync } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import type { Logger } from './logger.ts';

/** The parent's request when our log has grown large. `file`: the file that our standard output is appended to. */
export type RotateLog = { type: 'rotate-log'; file: string };

/**
 * Moves what is in a log file to `<file>.1` and empties it. The process itself does it, because it alone can do so between two of its
 * lines: nothing is lost, and no line is split. Its output must be appended to the file, without a buffer.
 */
async function rotateLog(file: string): Promise<void> {
  const copy = `${file}.1.new`;
  await copyFile(file, copy);
  const { size } = await stat(copy);
  // What was written meanwhile. From here to the end nothing else of this process runs, so nothing more is written.
  appendFileSync(copy, readFrom(file, size));
  truncateSync(file);
  renameSync(copy, `${file}.1`);
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

/** Rotates this process' log whenever its parent asks, one time after the other. */
export function rotateLogWhenAsked(logger: Logger): void {
  let rotating = false;
  process.on('message', async (message: RotateLog) => {
    if (message?.type !== 'rotate-log' || rotating) return;
    rotating = true;
    await rotateLog(message.file).catch((cause) => logger.warn({ cause }, 'the log was not rotated'));
    rotating = false;
  });
}
