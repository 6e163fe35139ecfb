import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIfPresent } from '@adsweep/shared/service/read-if-present.ts';
import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseUpstream } from '../providers/dial-upstream.ts';
import { type Place, placeProperties } from '../providers/exit.ts';
import type { ProviderConfig } from '../providers/provider-config.ts';
import { type ExitsFile, ExitsFileError, parseExitsFile } from './exits-file.ts';

/** The last good exits file and the time it was read. */
type Snapshot = { refreshedAt: Date; file: ExitsFile };

/** Writes the snapshot, without any credential. Throws the system's errors. */
export function writeSnapshot(path: string, { refreshedAt, file }: Snapshot): void {
  replaceFile(path, JSON.stringify({ refreshed_at: refreshedAt.toISOString(), file: withoutCredentials(file) }));
}

/**
 * Exits and accounts whose credentials are in the file itself cannot be used without them, and are omitted. A
 * catalogue's URL has them before an `@` or in its query.
 */
function withoutCredentials({ exits, providers, hosts }: ExitsFile): ExitsFile {
  const isOpen = (upstream: string) => /^\w+:\/\/[^@]*$/.test(upstream) && parseUpstream(upstream) !== null;
  return {
    exits: exits.filter(({ upstream }) => upstream === undefined || isOpen(upstream)),
    providers: providers.filter(({ password, catalogue }) => password === undefined && !/[@?]/.test(catalogue)),
    hosts,
  };
}

/**
 * The snapshot at `path`, null if there is no usable one; `builtIn` as in {@link parseExitsFile}. Throws the system's
 * errors.
 */
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

/** A vendor's places from the last good fetch. */
export type FetchedPlaces = { places: Place[]; refreshedAt: Date };

const SnapshotSchema = Type.Object({
  catalogues: Type.Record(
    Type.String(),
    Type.Object({
      refreshed_at: Type.String({ format: 'date-time' }),
      places: Type.Array(Type.Object(placeProperties)),
    }),
  ),
});

const ofSnapshot = Compile(SnapshotSchema);

/** Names a catalogue by its provider and a fingerprint of its URL, which may hold a credential. */
export const catalogueKey = ({ id, catalogue }: ProviderConfig): string =>
  `${id} ${createHash('sha256').update(catalogue).digest('hex').slice(0, 16)}`;

/** Writes the fetched catalogues by {@link catalogueKey}. Throws the system's errors. */
export function writeCatalogues(path: string, catalogues: ReadonlyMap<string, FetchedPlaces>): void {
  const entries = [...catalogues].map(([key, { places, refreshedAt }]) => [
    key,
    { refreshed_at: refreshedAt.toISOString(), places },
  ]);
  replaceFile(path, JSON.stringify({ catalogues: Object.fromEntries(entries) }));
}

/** The fetched catalogues by {@link catalogueKey}; empty if there is no usable snapshot. Throws the system's errors. */
export function readCatalogues(path: string): Map<string, FetchedPlaces> {
  const snapshot = jsonOrNull(readIfPresent(path) ?? '');
  if (!ofSnapshot.Check(snapshot)) return new Map();
  const entries = Object.entries(snapshot.catalogues).map(
    ([key, { refreshed_at, places }]) => [key, { places, refreshedAt: new Date(refreshed_at) }] as const,
  );
  return new Map(entries);
}

/** Replaces a file atomically: a crash leaves the old file or the new one. Throws the system's errors. */
function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}
