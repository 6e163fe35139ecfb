import { parseUpstream } from '../providers/upstream.ts';
import { type ExitsFile, ExitsFileError, parseExitsFile } from './exits-file.ts';
import { readIfPresent, writeWhole } from './snapshot-file.ts';

/** The exits file as it was last read, and when that was. */
export type Snapshot = { refreshedAt: Date; file: ExitsFile };

/** Writes the snapshot, without any credential. Throws the system's errors. */
export function writeSnapshot(path: string, { refreshedAt, file }: Snapshot): void {
  writeWhole(path, JSON.stringify({ refreshed_at: refreshedAt.toISOString(), file: withoutCredentials(file) }));
}

/** Exits and accounts whose credentials stand in the file itself are of no use without it, and are left out. */
function withoutCredentials({ exits, providers, hosts }: ExitsFile): ExitsFile {
  const isOpen = (upstream: string) => /^\w+:\/\/[^@]*$/.test(upstream) && parseUpstream(upstream) !== null;
  return {
    exits: exits.filter(({ upstream }) => upstream === undefined || isOpen(upstream)),
    providers: providers.filter(({ password, catalogue }) => password === undefined && !catalogue.includes('@')),
    hosts,
  };
}

/** The snapshot at `path`, null where there is none that can be used; `builtIn` as in {@link parseExitsFile}. Throws the system's errors. */
export function readSnapshot(path: string, builtIn: readonly string[]): Snapshot | null {
  try {
    const text = readIfPresent(path);
    if (text === null) return null;
    const { refreshed_at, file } = JSON.parse(text) as { refreshed_at: string; file: unknown };
    const refreshedAt = new Date(refreshed_at);
    if (Number.isNaN(refreshedAt.getTime())) return null;
    return { refreshedAt, file: parseExitsFile(JSON.stringify(file ?? null), builtIn) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof ExitsFileError) return null;
    throw error;
  }
}
