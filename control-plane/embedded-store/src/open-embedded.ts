import type { Document } from 'mongodb';
import { EmbeddedCollection } from './collection.ts';
import { Database } from './storage/database.ts';
import type { Collection, Store } from './store-shape.ts';
import { deleteDocuments } from './writes/write.ts';

/**
 * Opens the embedded engine on one file (`:memory:` for none), and creates it if it is missing. Throws if another
 * process has it open. One process, one event loop: for a first run, for tests and for a small installation.
 */
export async function openEmbedded(path: string): Promise<Store> {
  const db = new Database(path);
  return {
    // The class has the driver's methods; the cast adds the driver's overloads, which differ in types alone.
    collection: <T extends Document>(name: string) => new EmbeddedCollection(db, name) as unknown as Collection<T>,
    ping: async () => db.ping(),
    sweepExpired: (now) => sweepExpired(db, now),
    backUp: (file) => db.backUp(file),
    close: () => db.close(),
  };
}

/** Documents of one collection that are removed in one transaction, which blocks the event loop. */
const EXPIRED_AT_ONCE = 20;

async function sweepExpired(db: Database, now: Date): Promise<number> {
  let removed = 0;
  for (const records of db.all) {
    for (const { spec } of records.indexes) {
      if (spec.expireAfterSeconds === undefined) continue;
      const before = new Date(now.getTime() - spec.expireAfterSeconds * 1000);
      const filter = { [spec.components[0]!.path]: { $lte: before } };
      removed += db.transaction(() => deleteDocuments(records, { filter, limit: EXPIRED_AT_ONCE })).length;
      await db.synced();
    }
  }
  return removed;
}
