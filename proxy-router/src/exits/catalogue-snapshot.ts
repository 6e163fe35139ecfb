import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Place, placeProperties } from '../providers/place.ts';
import type { ProviderConfig } from '../providers/provider-config.ts';
import { readIfPresent, writeWhole } from './snapshot-file.ts';

/** A vendor's places as they were last fetched. */
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

/** Names a catalogue by its provider and a fingerprint of its URL, which may hold a credential. */
export const catalogueKey = ({ id, catalogue }: ProviderConfig): string =>
  `${id} ${createHash('sha256').update(catalogue).digest('hex').slice(0, 16)}`;

/** Writes the fetched catalogues by {@link catalogueKey}. Throws the system's errors. */
export function writeCatalogues(path: string, catalogues: ReadonlyMap<string, FetchedPlaces>): void {
  const entries = [...catalogues].map(([key, { places, refreshedAt }]) => [
    key,
    { refreshed_at: refreshedAt.toISOString(), places },
  ]);
  writeWhole(path, JSON.stringify({ catalogues: Object.fromEntries(entries) }));
}

/** The fetched catalogues by {@link catalogueKey}; none where there is no snapshot that can be used. Throws the system's errors. */
export function readCatalogues(path: string): Map<string, FetchedPlaces> {
  const snapshot = parse(readIfPresent(path) ?? '');
  if (!Value.Check(SnapshotSchema, snapshot)) return new Map();
  const entries = Object.entries(snapshot.catalogues).map(
    ([key, { refreshed_at, places }]) => [key, { places, refreshedAt: new Date(refreshed_at) }] as const,
  );
  return new Map(entries);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
