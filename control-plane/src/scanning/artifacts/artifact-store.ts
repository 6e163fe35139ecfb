import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Artifact, artifactKindOf, CONTENT_TYPES } from '@adsweep/shared/capture/artifacts.ts';
import { HOUR_MS } from '@adsweep/shared/durations.ts';
import { newId } from '@adsweep/shared/ids.ts';
import type { SentFile } from '@adsweep/shared/lease/capture-with-files.ts';
import { isStorageProblem, type ObjectStore } from '../../platform/objects/object-store.ts';
import { type Collection, isDuplicateKey, type Store } from '../../platform/store.ts';
import {
  ArtifactKept,
  type ArtifactRecord,
  ArtifactRefused,
  type AttemptRef,
  type FoundFile,
  folderOf,
} from './artifact.ts';
import { artifactRemovals } from './artifact-removal-store.ts';
import { inspect, Measure } from './inspect-artifact.ts';

/** An upload whose attempt was not accepted is removed after this time, which is longer than any lease. */
const UNACCEPTED_LIFETIME_MS = HOUR_MS;

/**
 * Together with artifact-removal-store.ts, the only code that accesses the artifacts collection. The bytes are in the
 * object store under `scans/<id>/<fence>/<upload>-<name>`, so that a late or aborted upload does not affect the bytes
 * of another one.
 */
export type ArtifactStore = ReturnType<typeof artifactStore>;

export function artifactStore(store: Store, objects: ObjectStore) {
  const artifacts: Collection<ArtifactRecord> = store.collection<ArtifactRecord>('artifacts');
  const { remove, ...removals } = artifactRemovals(artifacts, objects);

  /**
   * Replaces the record with the same name, which it returns. If that one is kept, or a concurrent upload inserts
   * first, the filter matches nothing and the insert fails with a duplicate key.
   */
  const save = async (record: ArtifactRecord): Promise<ArtifactRecord | null> => {
    const { _id, ...fields } = record;
    try {
      const earlier = await artifacts.findOneAndReplace({ _id, kept: false }, fields, { upsert: true });
      if (earlier) await objects.delete(earlier.object);
      return earlier;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const other = await artifacts.findOne({ _id });
      if (other?.kept) throw new ArtifactKept('the attempt was accepted with another file of this name');
      return save(record);
    }
  };

  /**
   * Takes a file back that is one more than its attempt may have. Each upload counts after it has saved its own, so of
   * any number of uploads at once, the last one that stays has counted all others that stay.
   */
  const refuseBeyond = async ({ _id, object, scan_id: scanId, fence }: ArtifactRecord, filesMax: number) => {
    if ((await listOf({ scanId, fence })).length <= filesMax) return;
    const { deletedCount } = await artifacts.deleteOne({ _id, object, kept: false });
    if (deletedCount > 0) throw new ArtifactRefused(`An attempt has at most ${filesMax} artifacts.`);
  };

  const discardStored = async (records: readonly ArtifactRecord[]): Promise<void> => {
    for (const { object } of records) await objects.delete(object);
  };

  const foundFile = (artifact: ArtifactRecord): FoundFile => ({
    ...artifact,
    read: async (range) => (await objects.get(artifact.object, range))?.stream ?? null,
  });

  const listOf = async ({ scanId, fence }: AttemptRef): Promise<ArtifactRecord[]> =>
    artifacts.find({ scan_id: scanId, fence }).toArray();

  return {
    async createIndexes(): Promise<void> {
      await artifacts.createIndexes([{ key: { scan_id: 1, fence: 1 } }, { key: { expires_at: 1 } }]);
    },

    /**
     * Stores a file that a node uploads; it is removed after an hour unless `keep` is called. Throws `ArtifactRefused`
     * if it has more than `bytesMax` bytes, exceeds `filesMax` files or is not a file of the kind in its name;
     * `ArtifactKept` if the attempt was accepted in the meantime.
     */
    async receive(
      ref: AttemptRef,
      name: string,
      source: Readable,
      { bytesMax, filesMax }: { bytesMax: number; filesMax: number },
      now: Date,
    ): Promise<ArtifactRecord> {
      const draft = newRecord(ref, name);
      const inspected = new PassThrough();
      const measured = new Measure(bytesMax, inspected);
      try {
        const kind = await storedAs(
          [pipeline(source, measured), objects.put(draft.object, measured)],
          inspect(name, inspected),
        );
        const expires_at = new Date(now.getTime() + UNACCEPTED_LIFETIME_MS);
        const { sha256, bytes } = measured;
        const record = { ...draft, sha256, bytes, ...kind, expires_at };
        const earlier = await save(record);
        if (!earlier) await refuseBeyond(record, filesMax);
        return record;
      } catch (error) {
        await objects.delete(draft.object);
        throw error;
      }
    },

    /**
     * Stores files that a node sends together with their capture, without a record until `keepStored`. Throws
     * `ArtifactRefused` if one is not a file of the kind in its name; none is stored then.
     */
    async receiveAll(ref: AttemptRef, files: readonly SentFile[], now: Date): Promise<ArtifactRecord[]> {
      const expires_at = new Date(now.getTime() + UNACCEPTED_LIFETIME_MS);
      const records: ArtifactRecord[] = [];
      for (const { name, bytes } of files) {
        const kind = await inspect(name, Readable.from([bytes]));
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        records.push({ ...newRecord(ref, name), sha256, bytes: bytes.length, ...kind, expires_at });
      }
      const stored = await Promise.allSettled(records.map(({ object }, at) => objects.put(object, files[at]!.bytes)));
      const failed = stored.find((outcome) => outcome.status === 'rejected');
      if (failed) await discardStored(records);
      if (failed) throw failed.reason;
      return records;
    },

    /** Removes stored files that have no record. */
    discardStored,

    /**
     * Records stored files as kept, for the lifetime of their kind. Returns false if another file of one of the names
     * is recorded; a repeated request replaces its own.
     */
    async keepStored(records: readonly ArtifactRecord[], now: Date): Promise<boolean> {
      const writes = records.map(({ _id, ...fields }) => ({
        replaceOne: {
          filter: { _id, sha256: fields.sha256 },
          replacement: { ...fields, ...keptFrom(fields.name, now) },
          upsert: true,
        },
      }));
      try {
        if (writes.length > 0) await artifacts.bulkWrite(writes);
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return false;
      }
    },

    /** The artifacts of an attempt. */
    listOf,

    /** Stores gzipped JSON that the control plane made; it is removed after `lifetimeMs`. */
    async write(ref: AttemptRef, name: string, bytes: Uint8Array, lifetimeMs: number, now: Date): Promise<void> {
      const draft = newRecord(ref, name);
      await objects.put(draft.object, bytes);
      const expires_at = new Date(now.getTime() + lifetimeMs);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const kind = { content_type: CONTENT_TYPES.gzipped_json, width: 0, height: 0 };
      await save({ ...draft, sha256, bytes: bytes.length, ...kind, expires_at });
    },

    /**
     * The record of an artifact, with a function that reads all or a part of it; null if the attempt has none with this
     * name.
     */
    async find(ref: AttemptRef, name: string): Promise<FoundFile | null> {
      const artifact = await artifacts.findOne({ _id: idOf(ref, name) });
      return artifact && foundFile(artifact);
    },

    /** The same of all artifacts of an attempt, by name. */
    async findAll(ref: AttemptRef): Promise<Map<string, FoundFile>> {
      return new Map((await listOf(ref)).map((artifact) => [artifact.name, foundFile(artifact)]));
    },

    /**
     * Marks uploads as kept, for the lifetime of their kind, and removes the others of `uploads`, those of the attempt.
     * Returns false if one of them no longer has the hash in `wanted`.
     */
    async keep(
      ref: AttemptRef,
      uploads: ArtifactRecord[],
      wanted: Pick<Artifact, 'name' | 'sha256'>[],
      now: Date,
    ): Promise<boolean> {
      const names = wanted.map(({ name }) => name);
      await remove(uploads.filter(({ name }) => !names.includes(name)));
      const marks = wanted.map(({ name, sha256 }) => {
        return { updateOne: { filter: { _id: idOf(ref, name), sha256 }, update: { $set: keptFrom(name, now) } } };
      });
      return marks.length === 0 || (await artifacts.bulkWrite(marks)).matchedCount === marks.length;
    },

    ...removals,
  };
}

/**
 * What the inspection returns, once the upload has ended too. If several fail, throws the error about the storage,
 * which has caused the others, and that of the inspection last: it saw no more than what arrived.
 */
async function storedAs<Kind>(upload: Promise<unknown>[], inspection: Promise<Kind>): Promise<Kind> {
  const outcomes = await Promise.allSettled([...upload, inspection]);
  const reasons: unknown[] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (reasons.length > 0) throw reasons.find(isStorageProblem) ?? reasons[0];
  return inspection;
}

/** The fields of a kept artifact: it expires after the lifetime of its kind. */
function keptFrom(name: string, now: Date): Pick<ArtifactRecord, 'kept' | 'expires_at'> {
  const lifetimeMs = artifactKindOf(name)?.lifetimeMs ?? null;
  return { kept: true, expires_at: lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs) };
}

const idOf = (ref: AttemptRef, name: string): string => `${folderOf(ref)}/${name}`;
const newRecord = (ref: AttemptRef, name: string) => ({
  _id: idOf(ref, name),
  object: `${folderOf(ref)}/${newId()}-${name}`,
  kept: false,
  scan_id: ref.scanId,
  fence: ref.fence,
  name,
});
