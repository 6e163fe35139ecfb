import { refuseUndefined } from '@adsweep/embedded-store/refuse-undefined.ts';
import type { Collection, EmbeddedIndexOptions, Store } from '@adsweep/embedded-store/store-shape.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import {
  type AnyBulkWriteOperation,
  type Db,
  type Document,
  type Collection as DriverCollection,
  MongoClient,
} from 'mongodb';

const DEFAULT_DATABASE = 'adsweep';
const NAMED_DATABASE = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/;

/**
 * Connects to MongoDB with its driver. The database is the one in the URL, else `adsweep`. Writes are acknowledged as
 * the URL says, else when they survive a crash. Throws an OperatorError if it is unreachable.
 */
export async function openMongo(url: string): Promise<Store> {
  const { client, isAlone } = await connect(url);
  const options = isAlone && !client.writeConcern ? { writeConcern: OF_ONE_SERVER } : {};
  const db = client.db(NAMED_DATABASE.exec(url)?.[1] ?? DEFAULT_DATABASE, options);
  return {
    collection: <T extends Document>(name: string): Collection<T> => guarded(db.collection<T>(name)),
    ping: async () => void (await db.command({ ping: 1 })),
    sweepExpired: (now) => sweepExpired(db, now),
    close: () => client.close(),
  };
}

/**
 * A server that is no member of a replica set acknowledges writes before they are in its journal, unless it is asked to
 * wait. The default of other deployments, `w=majority`, waits.
 */
const OF_ONE_SERVER = { w: 'majority', journal: true } as const;

/** `isAlone`: the server is no member of a replica set. */
async function connect(url: string): Promise<{ client: MongoClient; isAlone: boolean }> {
  try {
    const client = new MongoClient(url, { ignoreUndefined: true, serverSelectionTimeoutMS: 10_000 });
    let isAlone = false;
    client.on('serverDescriptionChanged', ({ newDescription }) => {
      isAlone = newDescription.type === 'Standalone';
    });
    await client.connect();
    return { client, isAlone };
  } catch (cause) {
    throw new OperatorError(`MONGODB_URL: ${(cause as Error).message}`, { cause });
  }
}

const FILTER_FIRST = new Set<PropertyKey>([
  ...['find', 'findOne', 'findOneAndUpdate', 'findOneAndReplace', 'findOneAndDelete', 'countDocuments'],
  ...['updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany'],
]);

function guarded<T extends Document>(collection: DriverCollection<T>): Collection<T> {
  return new Proxy(collection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        for (const filter of filtersOf(name, args)) refuseUndefined(filter);
        return member.apply(target, INDEXING.has(name) ? withoutEmbeddedOptions(args) : args);
      };
    },
  });
}

const INDEXING = new Set<PropertyKey>(['createIndex', 'createIndexes']);

/** The arguments without the options that only the embedded store has. */
function withoutEmbeddedOptions(args: unknown[]): unknown[] {
  const plain = (of: unknown): unknown => {
    if (Array.isArray(of)) return of.map(plain);
    if (typeof of !== 'object' || of === null || !('countedPrefix' in of)) return of;
    const { countedPrefix, partsOf, ...others } = of as EmbeddedIndexOptions;
    return others;
  };
  return args.map(plain);
}

function filtersOf(method: PropertyKey, args: unknown[]): unknown[] {
  if (FILTER_FIRST.has(method)) return args.slice(0, 1).filter((filter) => filter !== undefined);
  if (method === 'distinct') return args.slice(1, 2).filter((filter) => filter !== undefined);
  if (method !== 'bulkWrite') return [];
  return (args[0] as AnyBulkWriteOperation[]).flatMap((write) =>
    Object.values(write).flatMap((of) => ('filter' in of ? [of.filter] : [])),
  );
}

const EXPIRED_AT_ONCE = 500;

/** Does what the server's TTL thread does once a minute, so that it happens at a defined time. */
async function sweepExpired(db: Db, now: Date): Promise<number> {
  let removed = 0;
  for (const { name } of await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray()) {
    for (const index of await db.collection(name).indexes()) {
      if (index.expireAfterSeconds === undefined) continue;
      const [field] = Object.keys(index.key);
      const before = new Date(now.getTime() - index.expireAfterSeconds * 1000);
      const expired = { [field!]: { $lte: before } };
      const ids = await db
        .collection(name)
        .find(expired, { projection: { _id: 1 } })
        .limit(EXPIRED_AT_ONCE)
        .toArray();
      const filter = { ...expired, _id: { $in: ids.map(({ _id }) => _id) } };
      if (ids.length > 0) removed += (await db.collection(name).deleteMany(filter)).deletedCount;
    }
  }
  return removed;
}
