import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { dueByOrganization, dueIndexes } from '../../platform/due-by-organization.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import { pickingInTurns } from '../../platform/pick-in-turns.ts';
import type { Collection, Filter, Store, UpdateFilter } from '../../platform/store.ts';
import type { RunInCreation, RunRecord } from './run.ts';

/** The only code that accesses runs. Clients' queries filter by organization first. */
export type RunStore = ReturnType<typeof runStore>;

const NEWEST = { created_at: -1, _id: -1 } as const;
/** The settings of a run can contain a large target, which only the creation of its scans reads. */
const WITHOUT_SETTINGS = { 'creation.settings': 0 } as const;
/**
 * A campaign has few runs that are being created at the same time; those beyond this number are cancelled by a repeated
 * request.
 */
const IN_CREATION_MAX = 1_000;

export function runStore(store: Store) {
  const runs: Collection<RunRecord> = store.collection<RunRecord>('runs');
  const pickDue = pickingInTurns();

  const claim = async ({ _id, organization_id, creation_due_at }: RunRecord, until: Date) =>
    runs.findOneAndUpdate(
      { _id, organization_id, creation_due_at: creation_due_at! },
      { $set: { creation_due_at: until } },
      { returnDocument: 'after' },
    );

  return {
    async createIndexes(): Promise<void> {
      await runs.createIndexes([
        { key: { organization_id: 1, campaign_id: 1, ...NEWEST }, countedPrefix: 2 },
        { key: { organization_id: 1, campaign_id: 1, creation_due_at: 1 } },
        ...dueIndexes('creation_due_at'),
      ]);
    },

    /** Stores a run, unless one with this id exists; whether it was new. */
    async insert(run: RunRecord): Promise<boolean> {
      return insertOnce(runs, run);
    },

    /** A run of this organization; null: missing, or another organization's. Its settings are not read. */
    async find(organization_id: string, _id: string): Promise<RunRecord | null> {
      return runs.findOne({ _id, organization_id }, { projection: WITHOUT_SETTINGS });
    },

    /** A page of a campaign's runs, newest first, and their number. */
    async list(organization_id: string, campaign_id: string, { skip, limit }: { skip: number; limit: number }) {
      const where = { organization_id, campaign_id };
      const rows = runs.find(where).sort(NEWEST).skip(skip).limit(limit).project<RunRecord>(WITHOUT_SETTINGS);
      return { rows: await rows.toArray(), total: await runs.countDocuments(where) };
    },

    /** The runs of a campaign that are being created, without their settings. */
    async inCreation(organization_id: string, campaign_id: string): Promise<RunRecord[]> {
      const where = { organization_id, campaign_id, creation_due_at: { $gt: new Date(0) } };
      return runs.find(where).limit(IN_CREATION_MAX).project<RunRecord>(WITHOUT_SETTINGS).toArray();
    },

    /** Marks a run as cancelled and returns it; null: it was cancelled before. */
    async cancel(organization_id: string, _id: string, now: Date): Promise<RunRecord | null> {
      const update: UpdateFilter<RunRecord> = { $set: { cancelled_at: now } };
      const options = { returnDocument: 'after', projection: WITHOUT_SETTINGS } as const;
      return runs.findOneAndUpdate({ _id, organization_id, cancelled_at: null }, update, options);
    },

    /** Claims up to `limit` runs whose next step is due until `until`, one of each organization in turn. */
    async claimDue(now: Date, until: Date, limit: number): Promise<RunInCreation[]> {
      const due = await pickDue(dueByOrganization(runs, 'creation_due_at', now), limit);
      const claimed = await inTurns(due, (run) => claim(run, until));
      return claimed.filter((run): run is RunInCreation => run?.creation !== undefined);
    },

    /**
     * Notes that the next step of a run begins at `next` and is due at `dueAt`; false: another process did, or the run
     * was cancelled.
     */
    async advance({ _id, organization_id, creation }: RunInCreation, next: number, dueAt: Date): Promise<boolean> {
      const filter: Filter<RunRecord> = { _id, organization_id, cancelled_at: null, 'creation.next': creation.next };
      const update: UpdateFilter<RunRecord> = { $set: { 'creation.next': next, creation_due_at: dueAt } };
      return (await runs.updateOne(filter, update)).matchedCount === 1;
    },

    /** Notes that no further scan of a run is to be created, if it is cancelled, or is not; false: it is otherwise. */
    async finishCreation(
      { _id, organization_id }: RunRecord,
      { isCancelled }: { isCancelled: boolean },
    ): Promise<boolean> {
      const filter: Filter<RunRecord> = { _id, organization_id, cancelled_at: isCancelled ? { $ne: null } : null };
      const update: UpdateFilter<RunRecord> = { $unset: { creation: '', creation_due_at: '' } };
      return (await runs.updateOne(filter, update)).matchedCount === 1;
    },
  };
}
