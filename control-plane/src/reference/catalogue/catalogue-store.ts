import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import { catalogueText, parseCatalogue } from './catalogue-text.ts';

/**
 * The catalogue as JSON, because its keys are names of regions, some of which are not valid field names in a store:
 * `zstd`, compressed and in base64, because with the places of vendors it has megabytes; earlier versions stored it as
 * it is.
 */
type CatalogueRecord = { _id: 'last'; zstd?: string; json?: string; read_at: Date };

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)];

/** The only code that accesses the stored copy of the catalogue. */
export type CatalogueStore = ReturnType<typeof catalogueStore>;

export function catalogueStore(store: Store) {
  const catalogues: Collection<CatalogueRecord> = store.collection<CatalogueRecord>('catalogue');

  return {
    async save(catalogue: Catalogue, now: Date): Promise<void> {
      const zstd = (await compress(await catalogueText(catalogue))).toString('base64');
      if (await insertOnce(catalogues, { _id: 'last', zstd, read_at: now })) return;
      await catalogues.updateOne({ _id: 'last' }, { $set: { zstd, read_at: now }, $unset: { json: '' } });
    },

    /** The catalogue that was saved last; null if there is none, or an incompatible version saved it. */
    async load(): Promise<Catalogue | null> {
      const { zstd, json } = (await catalogues.findOne({ _id: 'last' })) ?? {};
      const text = zstd === undefined ? json : (await decompress(Buffer.from(zstd, 'base64'))).toString('utf8');
      return text === undefined ? null : parseCatalogue(text).catch(() => null);
    },
  };
}
