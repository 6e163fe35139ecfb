import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { dueAtOnce } from '../due-by-organization.ts';
import { type DueByOrganization, pickingInTurns } from '../pick-in-turns.ts';
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
   * Claims up to `limit` due records until `until`, one of each organization in turn, and of one organization at random
   * among those due longest, so that concurrent relays choose different ones. Each record is claimed by one caller
   * only. `hasMore`: further records are due.
   */
  claimDue(now: Date, until: Date, limit: number): Promise<{ claimed: ClaimedOutbox[]; hasMore: boolean }>;
  /** Removes the processed entries. `retryAt`: when the others are due again after a failure; null: none failed. */
  finish(claimed: ClaimedOutbox, doneIds: string[], retryAt: Date | null): Promise<void>;
  /** Number of records with entries (counted up to `limit`), and the time of the oldest entry. */
  backlog(limit: number): Promise<{ records: number; oldestAt: Date | null }>;
};

type OutboxRecord = OutboxFields & { _id: string; organization_id: string };

/**
 * The update that adds `entries` to the outbox of an organization's record; to be merged into the update of the change.
 */
export function pushToOutbox(organizationId: string, entries: OutboxEntry[]): UpdateFilter<OutboxFields> {
  const [first] = entries;
  if (!first) return {};
  const { outbox: _, ...waiting } = initialOutbox(organizationId, entries);
  // `$min` also sets what is absent; `outbox_of` never differs.
  return { $push: { outbox: { $each: entries } }, $min: waiting };
}

/** The same for a record that is about to be inserted. */
export function initialOutbox(organizationId: string, entries: OutboxEntry[]): OutboxFields {
  const [first] = entries;
  if (!first) return { outbox: entries };
  return { outbox: entries, outbox_at: first.at, outbox_due_at: dueAtOnce(first.at), outbox_of: organizationId };
}

/** The indexes of a collection whose records have outboxes. */
export const OUTBOX_INDEXES: { key: Record<string, 1>; sparse: true }[] = [
  { key: { outbox_due_at: 1 }, sparse: true },
  { key: { outbox_of: 1, outbox_due_at: 1 }, sparse: true },
  { key: { outbox_at: 1 }, sparse: true },
];

const WAITING_FIELDS = {
  outbox_at: '',
  outbox_due_at: '',
  outbox_of: '',
  outbox_failures: '',
  outbox_claimed_until: '',
} as const;

/** No relay has claimed the record, or the claim has expired. */
const unclaimed = (now: Date) => ({
  $or: [{ outbox_claimed_until: { $exists: false } }, { outbox_claimed_until: { $lt: now } }],
});

/**
 * The outboxes of a collection's records. `originOf` returns the origin of a record's entries; `originFields` are the
 * fields it reads.
 */
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

  const dueAt = (now: Date): DueByOrganization<OutboxRecord> => {
    const search = (among: Filter<OutboxRecord>, sort: Record<string, 1>, most: number): Promise<OutboxRecord[]> =>
      records
        .find({ ...among, outbox_due_at: { $lte: now }, ...unclaimed(now) })
        .sort(sort)
        .limit(most)
        .project<OutboxRecord>({ organization_id: 1, outbox_of: 1 })
        .toArray();
    const inTurn = { outbox_of: 1, outbox_due_at: 1 } as const;
    return {
      // Also records of earlier versions, which have no `outbox_of`.
      first: (most) => search({}, { outbox_due_at: 1 }, most),
      organizationAfter: async (id) => (await search({ outbox_of: { $gt: id } }, inTurn, 1))[0]?.outbox_of ?? null,
      of: (organizationId, most) => search({ outbox_of: organizationId }, inTurn, most),
    };
  };
  const pick = pickingInTurns();

  return {
    name,

    async claimDue(now, until, limit) {
      const picked = await pick(dueAt(now), limit);
      // A scan with many alerts takes milliseconds to read.
      const claims = await inTurns(picked, (record) => claim(record, now, until));
      const claimed = claims.filter((one) => one !== null);
      return { claimed, hasMore: picked.length === limit || claimed.length < picked.length };
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
