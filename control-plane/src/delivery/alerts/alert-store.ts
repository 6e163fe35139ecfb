import type { CursorPosition } from '../../http/page.ts';
import { inPortions } from '../../platform/in-portions.ts';
import { insertAllOnce } from '../../platform/insert-once.ts';
import { ALERT_STATUSES, type AlertStatus } from '../../platform/outbox/outbox-entry.ts';
import { OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../platform/outbox/outbox-source.ts';
import type { Collection, Filter, Store } from '../../platform/store.ts';
import { earlierThan } from '../../scan/stored-scan.ts';
import { type AlertRecord, statusChange } from './alert.ts';
import { type AlertFilter, questionOf } from './alert-filter.ts';

/** The only code that accesses alerts. Queries filter by organization first. */
export type AlertStore = ReturnType<typeof alertStore>;

export type AlertCounts = Record<AlertStatus, number>;

/** Alerts that are written in one piece: each has an index entry for every combination of its filters. */
const WRITTEN_AT_ONCE = 25;

const NEWEST = { created_at: -1, _id: -1 } as const;
const OLDEST = { created_at: 1, _id: 1 } as const;

/** Who changes the status of alerts, to which, and when. */
export type StatusWrite = { status: AlertStatus; keyId: string; now: Date };

export function alertStore(store: Store) {
  const alerts: Collection<AlertRecord> = store.collection<AlertRecord>('alerts');

  const whereOf = (organization_id: string, filter: AlertFilter, statuses: readonly AlertStatus[]) => {
    const { keys, rest } = questionOf(filter);
    const key = (filter_keys: Filter<AlertRecord>['filter_keys']): Filter<AlertRecord> => ({
      organization_id,
      filter_keys,
      status: { $in: [...statuses] },
      ...rest,
      ...(filter.scan_id !== undefined && { scan_id: filter.scan_id }),
      ...(filter.created && { created_at: filter.created }),
    });
    return { keys, any: key({ $in: keys }), one: key };
  };

  /** An alert has one of the keys, so that the counts of the keys add up; each of them the index has, of any days. */
  const count = async (organizationId: string, filter: AlertFilter, statuses: readonly AlertStatus[]) => {
    const { keys, one } = whereOf(organizationId, filter, statuses);
    let total = 0;
    for (const key of keys) total += await alerts.countDocuments(one(key));
    return total;
  };

  /** A change of one alert, if its status has not changed since it was read. */
  const writeOf = ({ _id, organization_id, sequence }: AlertRecord, { status, keyId, now }: StatusWrite) => {
    const { set, follows } = statusChange({ _id, sequence }, status, keyId, now);
    return {
      filter: { _id, organization_id, sequence },
      update: { $set: set, ...pushToOutbox(organization_id, follows) },
    };
  };

  return {
    async createIndexes(): Promise<void> {
      await alerts.createIndexes([
        { key: { organization_id: 1, filter_keys: 1, status: 1, ...NEWEST }, countedPrefix: 3 },
        { key: { organization_id: 1, scan_id: 1, ...NEWEST } },
        ...OUTBOX_INDEXES,
      ]);
    },

    /** Stores alerts, except those that exist. */
    async add(raised: AlertRecord[]): Promise<void> {
      await inPortions(raised, WRITTEN_AT_ONCE, (portion) => insertAllOnce(alerts, portion));
    },

    /** An alert of this organization; null: missing, or another organization's. */
    async find(organization_id: string, _id: string): Promise<AlertRecord | null> {
      return alerts.findOne({ _id, organization_id });
    },

    /**
     * A page of matching alerts with one of these statuses, newest first, those after a position alone (null: from the
     * first), their number, and the position of the last row (null: no more rows).
     */
    async list(
      organizationId: string,
      { statuses, ...filter }: AlertFilter & { statuses: readonly AlertStatus[] },
      { after, skip, limit }: { after: CursorPosition | null; skip: number; limit: number },
    ): Promise<{ rows: AlertRecord[]; total: number; last: CursorPosition | null }> {
      const { keys, any } = whereOf(organizationId, filter, statuses);
      if (keys.length === 0) return { rows: [], total: 0, last: null };
      const from: Filter<AlertRecord> = after ? { $and: [any, earlierThan<AlertRecord>('created_at', after)] } : any;
      const [found, total] = await Promise.all([
        alerts
          .find(from)
          .sort(NEWEST)
          .skip(skip)
          .limit(limit + 1)
          .toArray(),
        count(organizationId, filter, statuses),
      ]);
      const rows = found.slice(0, limit);
      const end = found.length > limit ? rows.at(-1) : undefined;
      return { rows, total, last: end ? { at: end.created_at, id: end._id } : null };
    },

    count,

    /** The number of matching alerts by status. */
    async countByStatus(organizationId: string, filter: AlertFilter): Promise<AlertCounts> {
      const counts = ALERT_STATUSES.map(async (status) => [status, await count(organizationId, filter, [status])]);
      return Object.fromEntries(await Promise.all(counts)) as AlertCounts;
    },

    /** Matching alerts with one of these statuses, the oldest first. */
    async oldest(organizationId: string, filter: AlertFilter, statuses: readonly AlertStatus[], limit: number) {
      const { keys, any } = whereOf(organizationId, filter, statuses);
      return keys.length === 0 ? [] : alerts.find(any).sort(OLDEST).limit(limit).toArray();
    },

    /** The organization's alerts with these ids. */
    async findAll(organization_id: string, ids: string[]): Promise<AlertRecord[]> {
      return alerts.find({ organization_id, _id: { $in: ids } }).toArray();
    },

    /** Changes the status of an alert together with its outbox; false: it has changed since it was read. */
    async change(alert: AlertRecord, write: StatusWrite): Promise<boolean> {
      const { filter, update } = writeOf(alert, write);
      return (await alerts.updateOne(filter, update)).matchedCount === 1;
    },

    /** The same for several alerts; returns how many were changed. */
    async changeAll(found: AlertRecord[], write: StatusWrite): Promise<number> {
      const writes = found.map((alert) => ({ updateOne: writeOf(alert, write) }));
      const written = await inPortions(writes, WRITTEN_AT_ONCE, (portion) =>
        alerts.bulkWrite(portion, { ordered: false }),
      );
      return written.reduce((sum, { matchedCount }) => sum + matchedCount, 0);
    },

    /** The outboxes of alerts. */
    outbox: outboxSource<AlertRecord>(
      'alerts',
      alerts,
      ['scan_id', 'campaign_id'],
      ({ organization_id, scan_id, campaign_id }) => ({
        organizationId: organization_id,
        scanId: scan_id,
        campaignId: campaign_id,
      }),
    ),
  };
}
