import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { ApiError } from '../http/api-error.ts';
import type { CursorPosition } from '../http/page.ts';
import { updateInPortions } from '../platform/in-portions.ts';
import { serializeByKey } from '../platform/serialize-by-key.ts';
import { type Collection, type Filter, isTimeLimit } from '../platform/store.ts';
import { comparisonKey, filterKey } from './filter-keys.ts';
import type { EarlierLook } from './look.ts';
import { LISTED_FIELDS, type ListedScan, type ScanRecord } from './scan.ts';
import { earlierThan, type StoredScan } from './stored-scan.ts';

/** A query over an organization's scans; `isCounted`: the number of matches can be read from an index. */
export type ListQuestion = { filter: Filter<StoredScan>; isCounted: boolean };

/** A page of a list: the rows after a position (null: from the first), without the first `skip`. */
export type ListWindow = { after: CursorPosition | null; skip: number; limit: number };

/** The most time that reading a page may take, and again counting the matches. */
const WITHIN = { maxTimeMS: 5_000 };

/** The order of all lists, newest first; each index of a list ends with it. */
const NEWEST = { created_at: -1, _id: -1 } as const;
const CHANGED = { _id: 1, run_id: 1, country_code: 1, emulator_id: 1, changes: 1, created_at: 1 } as const;
/** A scan that showed something else than the last run of its campaign. */
export type ChangedScan = Pick<ScanRecord, keyof typeof CHANGED>;

/**
 * Scans that are looked at to find those of the last run: the repeats of a run are 20 at most, a day's posted scans are
 * more.
 */
const LOOKS_MAX = 200;
/**
 * How often as many further ones are, while all of them are of the run of the scan itself: a day's posted scans are one
 * run.
 */
const LOOKED_AT_MAX = 10;

const LOOKED_AT = { _id: 1, run_id: 1, look: 1, created_at: 1 } as const;
type LookedAt = Pick<ScanRecord, keyof typeof LOOKED_AT>;

/** The states between waiting and the end. */
const RUNNING: ScanStatus[] = ['running', 'crawled', 'checking', 'rechecking'];
/** Ended scans that are counted by their states. */
const ENDED_MAX = 1_000;

const LISTED = Object.fromEntries(LISTED_FIELDS.map((field) => [field, 1]));

/** The indexes of the complete list and of each filter. */
export const LIST_INDEXES = [
  // Includes the URL: a search for a part of it reads only scans that may have it, or tests the entries of the index
  // where many have.
  { key: { organization_id: 1, ...NEWEST, 'target.value': 1 }, countedPrefix: 1, partsOf: 'target.value' },
  { key: { organization_id: 1, status: 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, country_code: 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, 'tags.tag_slug': 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, filter_keys: 1, ...NEWEST }, countedPrefix: 2 },
];

/** Queries of clients over all scans of an organization. */
export function scanLists(scans: Collection<StoredScan>) {
  const serialized = serializeByKey();

  /** Of the matching scans those after a position; null: all. */
  const from = (where: Filter<StoredScan>, after: CursorPosition | null): Filter<StoredScan> =>
    after ? { $and: [where, earlierThan('created_at', after)] } : where;

  const readPage = async (where: Filter<StoredScan>, { after, skip, limit }: ListWindow) => {
    const found = await scans
      .find(from(where, after), WITHIN)
      .sort(NEWEST)
      .skip(skip)
      .limit(limit + 1)
      .project<ListedScan>(LISTED)
      .toArray();
    // All matches are on this page: counting them would scan the index a second time.
    const isWhole = !after && found.length <= limit && (found.length > 0 || skip === 0);
    const total = isWhole ? skip + found.length : await scans.countDocuments(where, WITHIN);
    const rows = found.slice(0, limit);
    const end = found.length > limit ? rows.at(-1) : undefined;
    return { rows, total, last: end ? { at: end.created_at, id: end._id } : null };
  };

  return {
    /**
     * A page of the organization's matching scans, newest first, the number of matches, and the position of the last
     * row (null: no more rows). Searches that must scan an index run one at a time per organization, so that no
     * organization can occupy the process. Throws 504 if a search takes too long.
     */
    async list(organizationId: string, { filter, isCounted }: ListQuestion, window: ListWindow) {
      const where: Filter<StoredScan> = { $and: [{ organization_id: organizationId }, filter] };
      const read = () => readPage(where, window);
      const page = isCounted ? read() : serialized(organizationId, read);
      return page.catch((cause: unknown) => {
        throw isTimeLimit(cause) ? searchTimedOut(cause) : cause;
      });
    },

    /** The scans of the ads that a sweep found, in the order of the page; a sweep has at most `AD_BLOCKS_MAX`. */
    async childrenOf(organizationId: string, parentId: string): Promise<ListedScan[]> {
      const where = { organization_id: organizationId, filter_keys: filterKey('parent', parentId) };
      return scans.find(where, WITHIN).sort({ slot: 1, _id: 1 }).project<ListedScan>(LISTED).toArray();
    },

    /** Pending scans with a filter key, newest first, after a position (null: from the first). */
    async pendingWith(organization_id: string, key: string, after: CursorPosition | null, limit: number) {
      const where: Filter<StoredScan> = { organization_id, filter_keys: key, status: 'pending' };
      return scans.find(from(where, after), WITHIN).sort(NEWEST).limit(limit).toArray();
    },

    /**
     * What the last earlier run of the campaign with the target of this scan showed in its country and on its device,
     * the newest first. Of a run with more than {@link LOOKS_MAX} such scans, the others are not seen.
     */
    async earlierLooks(scan: ScanRecord): Promise<EarlierLook[]> {
      const { organization_id, campaign_id, run_id, created_at } = scan;
      if (campaign_id === null) return [];
      const filter_keys = filterKey('look', comparisonKey({ ...scan, campaign_id }));
      const where: Filter<StoredScan> = { organization_id, filter_keys, created_at: { $lt: created_at } };
      let others: LookedAt[] = [];
      let after: CursorPosition | null = null;
      for (let page = 0; page < LOOKED_AT_MAX; page += 1) {
        const found: LookedAt[] = await scans
          .find(from(where, after), WITHIN)
          .sort(NEWEST)
          .limit(LOOKS_MAX)
          .project<LookedAt>(LOOKED_AT)
          .toArray();
        others = found.filter((one) => one.run_id !== run_id);
        const end = found.at(-1);
        if (others.length > 0 || !end || found.length < LOOKS_MAX) break;
        after = { at: end.created_at, id: end._id };
      }
      const last = others.filter((one) => one.run_id === others[0]?.run_id);
      return last.flatMap((one) =>
        one.look && one.run_id ? [{ scan_id: one._id, run_id: one.run_id, look: one.look }] : [],
      );
    },

    /** A page of a campaign's scans that showed something else than its last run, newest first, and their number. */
    async changedIn(organization_id: string, campaignId: string, { skip, limit }: { skip: number; limit: number }) {
      const where = { organization_id, filter_keys: filterKey('changed', campaignId) };
      const page = scans.find(where, WITHIN).sort(NEWEST).skip(skip).limit(limit).project<ChangedScan>(CHANGED);
      const [rows, total] = await Promise.all([page.toArray(), scans.countDocuments(where, WITHIN)]);
      return { rows, total };
    },

    /**
     * How many of the organization's scans wait, run, and have ended since a time: of the last, the newest
     * {@link ENDED_MAX} count.
     */
    async countByState(organization_id: string, since: Date) {
      const inStatus = (status: ScanStatus) => scans.countDocuments({ organization_id, status }, WITHIN);
      const [waiting, ended, ...running] = await Promise.all([
        inStatus('pending'),
        scans
          .find({ organization_id, completed_at: { $gte: since } }, WITHIN)
          .sort({ completed_at: -1, _id: -1 })
          .limit(ENDED_MAX)
          .project<Pick<ScanRecord, 'status'>>({ status: 1 })
          .toArray(),
        ...RUNNING.map(inStatus),
      ]);
      const endedAs = (status: ScanStatus) => ended.filter((one) => one.status === status).length;
      return {
        waiting,
        running: running.reduce((sum, count) => sum + count, 0),
        ended: { completed: endedAs('completed'), partial: endedAs('partial'), failed: endedAs('failed') },
      };
    },

    /** Counts the organization's scans with a tag. */
    async countWithTag(organizationId: string, slug: string): Promise<number> {
      return scans.countDocuments({ organization_id: organizationId, 'tags.tag_slug': slug });
    },

    /** Removes a tag from all scans of the organization. */
    async removeTag(organizationId: string, slug: string): Promise<void> {
      const tagged = { organization_id: organizationId, 'tags.tag_slug': slug };
      await updateInPortions(scans, tagged, { $pull: { tags: { tag_slug: slug } } });
    },
  };
}

const searchTimedOut = (cause: unknown) =>
  new ApiError(
    'scanning.search_timed_out',
    'The search takes too long: add days, a status, a country or a tag, or a longer part of the URL.',
    { cause },
  );
