import { type Catalogue, CatalogueSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { Compile } from 'typebox/compile';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';

/** The catalogue as JSON text: its keys are names of regions, some of which are not valid field names in a store. */
type CatalogueRecord = { _id: 'last'; json: string; read_at: Date };

const schema = Compile(CatalogueSchema);

/** The only code that accesses the stored copy of the catalogue. */
export type CatalogueStore = ReturnType<typeof catalogueStore>;

export function catalogueStore(store: Store) {
  const catalogues: Collection<CatalogueRecord> = store.collection<CatalogueRecord>('catalogue');

  return {
    async save(catalogue: Catalogue, now: Date): Promise<void> {
      const record: CatalogueRecord = { _id: 'last', json: JSON.stringify(catalogue), read_at: now };
      if (await insertOnce(catalogues, record)) return;
      await catalogues.updateOne({ _id: 'last' }, { $set: { json: record.json, read_at: now } });
    },

    /** The catalogue that was saved last; null if there is none, or an incompatible version saved it. */
    async load(): Promise<Catalogue | null> {
      const record = await catalogues.findOne({ _id: 'last' });
      const catalogue: unknown = record && JSON.parse(record.json);
      return schema.Check(catalogue) ? catalogue : null;
    },
  };
}
