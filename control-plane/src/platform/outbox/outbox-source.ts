import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { pickAtRandom } from '../pick-at-random.ts';
import type { Collection, Filter, UpdateFilter } from '../store.ts';
import type { Origin, OutboxEntry, OutboxFields } from './outbox-entry.ts';

/** A record whose outbox one relay has claimed until `until`. */
export type ClaimedOutbox = {
  id: string;
  organizationId: string;
  until: Date;
  failures: number;
  entries: OutboxEntry[];
  origin: Origin;
};

/** A collection of records with an outbox. */
export type OutboxSource = {
  name: string;
  /**
   * Claims up to `limit` due records until `until`, chosen at random among those due longest, so that concurrent relays choose different
   * ones. Each record is claimed by one caller only. `hasMore`: further records are due.
   */
  claimDue(now: Date, until: Date, limit: number): Promise<{ claimed: ClaimedOutbox[]; hasMore: boolean }>;
  /** Removes the processed entries. `retryAt`: when the others are due again after a failure; null: none failed. */
  finish(claimed: ClaimedOutbox, doneIds: string[], retryAt: Date | null): Promise<void>;
  /** Number of records with entries (counted up to `limit`), and the time of the oldest entry. */
  backlog(limit: number): Promise<{ records: number; oldestAt: Date | null }>;
};

const CANDIDATES_PER_PICK = 4;

type OutboxRecord = OutboxFields & { _id: string; organization_id: string };

/** The update that adds `entries` to a record's outbox; to be merged into the update of the change. */
export function pushToOutbox(entries: OutboxEntry[]): UpdateFilter<OutboxFields> {
  const [first] = entries;
  if (!first) return {};
  return { $push: { outbox: { $each: entries } }, $min: { outbox_at: first.at, outbox_due_at: first.at } };
}

/** The same for a record that is about to be inserted. */
export function initialOutbox(entries: OutboxEntry[]): OutboxFields {
  const [first] = entries;
  return first ? { outbox: entries, outbox_at: first.at, outbox_due_at: first.at } : { outbox: entries };
}

/** The indexes of a collection whose records have outboxes. */
export const OUTBOX_INDEXES: { key: Record<string, 1>; sparse: true }[] = [
  { key: { outbox_due_at: 1 }, sparse: true },
  { key: { outbox_at: 1 }, sparse: true },
];

const WAITING_FIELDS = { outbox_at: '', outbox_due_at: '', outbox_failures: '', outbox_claimed_until: '' } as const;

/** No relay has claimed the record, or the claim has expired. */
const unclaimed = (now: Date) => ({
  $or: [{ outbox_claimed_until: { $exists: false } }, { outbox_claimed_until: { $lt: now } }],
});

/** The outboxes of a collection's records. `originOf` returns the origin of a record's entries; `originFields` are the fields it reads. */
export function outboxSource<T extends OutboxRecord>(
  name: string,
  collection: Collection<T>,
  originFields: (keyof T & string)[],
  originOf: (record: T) => Origin,
): OutboxSource {
  // The driver's types of filters and updates do not work with a type parameter.
  const records = collection as unknown as Collection<OutboxRecord>;
  const fields = ['organization_id', 'outbox', 'outbox_failures', ...originFields];
  const projection = Object.fromEntries(fields.map((field) => [field, 1]));

  const claim = async (
    { _id, organization_id }: OutboxRecord,
    now: Date,
    until: Date,
  ): Promise<ClaimedOutbox | null> => {
    const record = await records.findOneAndUpdate(
      { _id, organization_id, outbox_due_at: { $lte: now }, ...unclaimed(now) },
      { $set: { outbox_claimed_until: until, outbox_due_at: until } },
      { returnDocument: 'after', projection },
    );
    if (!record) return null;
    const { outbox: entries, outbox_failures: failures = 0 } = record;
    return { id: _id, organizationId: organization_id, until, failures, entries, origin: originOf(record as T) };
  };

  return {
    name,

    async claimDue(now, until, limit) {
      const due = await records
        .find({ outbox_due_at: { $lte: now }, ...unclaimed(now) })
        .sort({ outbox_due_at: 1 })
        .limit(limit * CANDIDATES_PER_PICK)
        .project<OutboxRecord>({ organization_id: 1 })
        .toArray();
      // A scan with many alerts takes milliseconds to read.
      const claims = await inTurns(pickAtRandom(due, limit), (record) => claim(record, now, until));
      const claimed = claims.filter((one) => one !== null);
      return { claimed, hasMore: claimed.length < due.length };
    },

    async finish({ id, organizationId, until, failures, entries }, doneIds, retryAt) {
      const mine = { _id: id, organization_id: organizationId, outbox_claimed_until: until };
      const rest = entries.filter((entry) => !doneIds.includes(entry.id));
      if (rest.length === 0) {
        const nothingNew: Filter<OutboxRecord> = { ...mine, outbox: { $size: entries.length } };
        const emptied = await records.updateOne(nothingNew, { $set: { outbox: [] }, $unset: WAITING_FIELDS });
        if (emptied.matchedCount === 1) return;
      }
      // Entries that were added meanwhile have already made the record due.
      const due = retryAt && { outbox_due_at: retryAt };
      const oldestAt = (rest[0] ?? entries.at(-1))?.at ?? until;
      await records.updateOne(mine, {
        $pull: { outbox: { id: { $in: doneIds } } },
        $set: { outbox_at: oldestAt, outbox_failures: retryAt ? failures + 1 : 0, ...due },
        $unset: { outbox_claimed_until: '' },
      });
    },

    async backlog(limit) {
      const waiting = { outbox_at: { $exists: true } };
      const [count, [oldest]] = await Promise.all([
        records.countDocuments(waiting, { limit }),
        records.find(waiting).sort({ outbox_at: 1 }).limit(1).project<OutboxFields>({ outbox_at: 1 }).toArray(),
      ]);
      return { records: count, oldestAt: oldest?.outbox_at ?? null };
    },
  };
}
