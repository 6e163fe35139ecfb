import { type TestContext, test } from 'node:test';
import { openStore, type Store, type StoreLocation } from '../../src/platform/store.ts';
import type { MongodbServer } from './mongodb-server.ts';

/** A test on one kind of store. `mongodbUrl`: the server's; null: the embedded store, whose file the test chooses. */
export type OnStore = (mongodbUrl: string | null, context: TestContext) => Promise<void>;

/** Registers a test on the embedded store and one on `mongodb`, which is stopped after it; text: why there is none. */
export function testOnEachStore(title: string, mongodb: MongodbServer | string, run: OnStore): void {
  test(`${title}: embedded store`, (context) => run(null, context));
  if (typeof mongodb === 'string') test(`${title}: MongoDB`, { skip: mongodb });
  else test(`${title}: MongoDB`, (context) => run(mongodb.url, context).finally(() => mongodb.stop()));
}

/** Opens a store for one use, between two processes that have it open. */
export async function withStore<T>(location: StoreLocation, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(location);
  return use(store).finally(() => store.close());
}
