import type { Collection, Store } from '../platform/store.ts';
import { filterKey } from './filter-keys.ts';
import type { ScanKey } from './scan.ts';
import type { StoredScan } from './stored-scan.ts';

/** The last final states of a run's scans; a scan that has not ended is in none of them. */
const RUN_OUTCOMES = ['completed', 'failed', 'partial', 'cancelled'] as const;
/**
 * `unplanned`: those of `total` that the run's plan does not have: discovered ads, and scans that were posted with the
 * run.
 */
export type RunCounts = { total: number; unplanned: number } & Record<(typeof RUN_OUTCOMES)[number], number>;

/**
 * A scan of a run that retention removes: its keys of the run, which are still counted. `removing`: the scan may still
 * exist; it is counted once all the same.
 */
type RemovedScan = ScanKey & { filter_keys: string[]; removing?: true };

const KEY_OF_RUN = /^run(_\w+)?:/;

/** The fields of a scan that its removal reads. */
const KEYS = { run_id: 1, filter_keys: 1 };

/**
 * Counts of the scans of a run. A scan has the keys of its run and of its last final state, which are written with the
 * state itself, so that the counts are exact at every moment and nothing is ever added up.
 */
export function runCounts(store: Store, scans: Collection<StoredScan>) {
  const removed: Collection<RemovedScan> = store.collection<RemovedScan>('removed_run_scans');

  /** The keys of scans of the run that are being removed, and are still counted as scans. */
  const countedTwice = async (organization_id: string, runKey: string): Promise<string[]> => {
    const removing = await removed.find({ organization_id, filter_keys: runKey, removing: true }).toArray();
    if (removing.length === 0) return [];
    const ids = removing.map(({ _id }) => _id);
    const left = await scans
      .find({ organization_id, _id: { $in: ids } })
      .project<ScanKey>({ _id: 1 })
      .toArray();
    const existing = new Set(left.map(({ _id }) => _id));
    return removing.filter(({ _id }) => existing.has(_id)).flatMap(({ filter_keys }) => filter_keys);
  };

  return {
    async createIndexes(): Promise<void> {
      await removed.createIndexes([{ key: { organization_id: 1, filter_keys: 1, removing: 1 }, countedPrefix: 2 }]);
    },

    /** The number of the run's scans, discovered ads included, and of those in each last final state. */
    async countRun(organization_id: string, runId: string): Promise<RunCounts> {
      const runKey = filterKey('run', runId);
      const twice = await countedTwice(organization_id, runKey);
      const count = async (key: string) => {
        const where = { organization_id, filter_keys: key };
        const counts = await Promise.all([scans.countDocuments(where), removed.countDocuments(where)]);
        return counts[0] + counts[1] - twice.filter((one) => one === key).length;
      };
      const outcomes = RUN_OUTCOMES.map((outcome) => filterKey('run_outcome', `${runId}/${outcome}`));
      const [total = 0, unplanned = 0, completed = 0, failed = 0, partial = 0, cancelled = 0] = await Promise.all(
        [runKey, filterKey('run_unplanned', runId), ...outcomes].map(count),
      );
      return { total, unplanned, completed, failed, partial, cancelled };
    },

    /**
     * Removes a scan with `remove`; if it is one of a run, it is counted before and after. May be repeated after a
     * crash.
     */
    async removeCounted({ _id, organization_id }: ScanKey, remove: () => Promise<unknown>): Promise<void> {
      const key = { _id, organization_id };
      const found = scans.find(key).limit(1).project<Pick<StoredScan, 'run_id' | 'filter_keys'>>(KEYS);
      const [scan] = await found.toArray();
      if (!scan?.run_id) return void (await remove());
      const filter_keys = scan.filter_keys.filter((one) => KEY_OF_RUN.test(one));
      await removed.updateOne(key, { $set: { filter_keys, removing: true } }, { upsert: true });
      await remove();
      await removed.updateOne(key, { $unset: { removing: '' } });
    },
  };
}
