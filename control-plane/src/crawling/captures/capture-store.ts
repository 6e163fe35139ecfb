import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { parseJsonInSlices } from '@adsweep/shared/service/parse-json-in-slices.ts';
import { pause } from '@adsweep/shared/service/time-slice.ts';
import { Binary } from 'mongodb';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { CaptureRecord } from './capture-record.ts';

/**
 * The stored form of a record, with the capture as gzipped JSON. No query reads parts of it, and as a document of up to
 * 4 MiB it would block the event loop for 100 ms at each read and write.
 */
type StoredCapture = Omit<CaptureRecord, 'capture'> & { capture: Binary };

/** The only code that accesses the captures collection. A scan's summary contains the id of its capture. */
export type CaptureStore = ReturnType<typeof captureStore>;

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export function captureStore(store: Store) {
  const captures: Collection<StoredCapture> = store.collection<StoredCapture>('captures');

  return {
    async createIndexes(): Promise<void> {
      await captures.createIndexes([{ key: { scan_id: 1 } }]);
    },

    /** Stores a capture, unless one of the same attempt is stored. */
    async insert(record: CaptureRecord): Promise<void> {
      // The capture has just been parsed and checked.
      await pause();
      const zipped = await zip(JSON.stringify(record.capture), { level: constants.Z_BEST_SPEED });
      await insertOnce(captures, { ...record, capture: new Binary(zipped) });
    },

    async find(id: string): Promise<CaptureRecord | null> {
      const stored = await captures.findOne({ _id: id });
      if (!stored) return null;
      return { ...stored, capture: await captureIn(stored.capture) };
    },

    /** The capture as gzipped JSON, to be unpacked in another thread. */
    async findPacked(id: string): Promise<Uint8Array | null> {
      const stored = await captures.findOne({ _id: id });
      if (!stored) return null;
      return stored.capture instanceof Binary ? stored.capture.buffer : zip(JSON.stringify(stored.capture));
    },

    async remove(id: string): Promise<void> {
      await captures.deleteOne({ _id: id });
    },

    async removeOfScan(scanId: string): Promise<void> {
      await captures.deleteMany({ scan_id: scanId });
    },

    /** The next `limit` ids after `afterId` ('' = from the first). */
    async pageOfIds(afterId: string, limit: number): Promise<string[]> {
      const page = captures.find({ _id: { $gt: afterId } }).sort({ _id: 1 });
      const found = await page.limit(limit).project<{ _id: string }>({ _id: 1 }).toArray();
      return found.map(({ _id }) => _id);
    },
  };
}

/** Earlier versions stored captures as documents. */
async function captureIn(stored: Binary | Capture): Promise<Capture> {
  if (!(stored instanceof Binary)) return stored;
  const json = await unzip(stored.buffer);
  await pause();
  const text = json.toString();
  await pause();
  return (await parseJsonInSlices(text)) as Capture;
}
