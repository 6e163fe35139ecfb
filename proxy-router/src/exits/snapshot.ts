import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ExitsFile, ExitsFileError, parseExitsFile } from './exits-file.ts';

/** The exits file as it was last read, and when that was. */
export type Snapshot = { refreshedAt: Date; file: ExitsFile };

/** Writes the snapshot so that a crash leaves the old one or the new one, never half of one. */
export function writeSnapshot(path: string, { refreshedAt, file }: Snapshot): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, JSON.stringify({ refreshed_at: refreshedAt.toISOString(), file }), { mode: 0o600 });
  renameSync(draft, path);
}

/** The snapshot at `path`, null where there is none that can be used. */
export function readSnapshot(path: string, providers: readonly string[]): Snapshot | null {
  try {
    const { refreshed_at, file } = JSON.parse(readFileSync(path, 'utf8')) as { refreshed_at: string; file: unknown };
    const refreshedAt = new Date(refreshed_at);
    if (Number.isNaN(refreshedAt.getTime())) return null;
    return { refreshedAt, file: parseExitsFile(JSON.stringify(file ?? null), providers) };
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError || error instanceof TypeError) return null;
    if (error instanceof ExitsFileError) return null;
    throw error;
  }
}

/** Whether an error says that a file is not there. */
const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
