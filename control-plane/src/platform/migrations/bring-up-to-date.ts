import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { insertOnce } from '../insert-once.ts';
import { ownFilesSince } from '../objects/own-files.ts';
import type { Collection, Store } from '../store.ts';
import { MIGRATIONS } from './index.ts';
import type { Migration } from './migration.ts';

/** The only document of the `meta` collection: the version of the store, and the process that is migrating it. */
type Meta = { _id: 'store'; version: number; claimed_by?: string; claimed_until?: Date };

/** How long a claim is valid without renewal. It is renewed after each batch, which takes much less. */
const CLAIM_MS = 15_000;
const POLL_EVERY_MS = 250;
/** A store without documents in these collections has never been used. */
const FIRST_COLLECTIONS = ['scans', 'api_keys', 'ledger_entries', 'events'];

/**
 * Runs the missing migrations of the store, each in one process, while other processes wait. An interrupted migration
 * is run again. Throws an OperatorError if a newer version of the code has written the store.
 */
export async function bringUpToDate(store: Store, logger: Logger, migrations: Migration[] = MIGRATIONS): Promise<void> {
  const meta = store.collection<Meta>('meta');
  const newest = migrations.at(-1)?.version ?? 0;
  const self = newId();
  const isNew = await isUnused(store);
  if (isNew) await ownFilesSince(store, new Date());
  await insertOnce(meta, { _id: 'store', version: isNew ? newest : 0 });
  for (;;) {
    const { version } = (await meta.findOne({ _id: 'store' }))!;
    if (version > newest) throw tooNew(version, newest);
    const next = migrations.find((migration) => migration.version > version);
    if (!next) return;
    if (await claim(meta, self, version)) await migrate(store, meta, self, next, logger);
    else await pause(POLL_EVERY_MS);
  }
}

async function isUnused(store: Store): Promise<boolean> {
  const firsts = await Promise.all(FIRST_COLLECTIONS.map((name) => store.collection(name).findOne({})));
  return firsts.every((document) => document === null);
}

const tooNew = (version: number, newest: number): OperatorError =>
  new OperatorError(
    `the records were written by a newer version of Adsweep (store version ${version}; this one knows ${newest}): start that version, or restore a backup`,
  );

async function claim(meta: Collection<Meta>, self: string, version: number): Promise<boolean> {
  const now = new Date();
  const free = { $or: [{ claimed_until: { $exists: false } }, { claimed_until: { $lt: now } }] };
  const mine = { $set: { claimed_by: self, claimed_until: new Date(now.getTime() + CLAIM_MS) } };
  return (await meta.updateOne({ _id: 'store', version, ...free }, mine)).matchedCount === 1;
}

async function migrate(
  store: Store,
  meta: Collection<Meta>,
  self: string,
  next: Migration,
  logger: Logger,
): Promise<void> {
  const { version, name } = next;
  logger.info({ version, name }, 'migration started');
  let documents = 0;
  const mine = { _id: 'store' as const, claimed_by: self };
  const checkpoint = async (count: number) => {
    documents += count;
    logger.info({ version, name, documents }, 'migration in progress');
    const renewed = await meta.updateOne(mine, { $set: { claimed_until: new Date(Date.now() + CLAIM_MS) } });
    if (renewed.matchedCount !== 1) throw new Error(`the migration "${name}" was taken over by another process`);
  };
  await next.run(store, checkpoint);
  await meta.updateOne(mine, { $set: { version }, $unset: { claimed_by: '', claimed_until: '' } });
  logger.info({ version, name, documents }, 'migration finished');
}
