import type { CursorPosition } from '../http/page.ts';
import { serializeByKey } from '../platform/serialize-by-key.ts';
import type { Collection, Filter } from '../platform/store.ts';
import { LISTED_FIELDS, type ListedScan } from './scan.ts';
import { earlierThan, type StoredScan } from './stored-scan.ts';

/** A query over an organization's scans; `isCounted`: an index holds the number of matches. */
export type ListQuestion = { filter: Filter<StoredScan>; isCounted: boolean };

/** A page of a list: after a place or from the first row on, `skip` rows left out. */
export type ListWindow = { after: CursorPosition | null; skip: number; limit: number };

/** Every list is in this order, and each of its indexes ends with it. */
const NEWEST = { created_at: -1, _id: -1 } as const;
const LISTED = Object.fromEntries(LISTED_FIELDS.map((field) => [field, 1]));

/** The indexes of lists: for the whole list, and for each of its filters. */
export const LIST_INDEXES = [
  // With the URL, so that a search for a part of it reads the index and no scan that does not match.
  { key: { organization_id: 1, ...NEWEST, 'target.value': 1 }, countedPrefix: 1 },
  { key: { organization_id: 1, status: 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, country_code: 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, 'tags.tag_slug': 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, filter_keys: 1, ...NEWEST }, countedPrefix: 2 },
];

/** Queries of clients over all scans of an organization. */
export function scanLists(scans: Collection<StoredScan>) {
  const serialized = serializeByKey();

  const readPage = async (where: Filter<StoredScan>, { after, skip, limit }: ListWindow) => {
    const from: Filter<StoredScan> = after ? { $and: [where, earlierThan('created_at', after)] } : where;
    const found = await scans
      .find(from)
      .sort(NEWEST)
      .skip(skip)
      .limit(limit + 1)
      .project<ListedScan>(LISTED)
      .toArray();
    // All matches have been seen: a rare search need not walk the index again to count them.
    const isWhole = !after && found.length <= limit && (found.length > 0 || skip === 0);
    const total = isWhole ? skip + found.length : await scans.countDocuments(where);
    const rows = found.slice(0, limit);
    const end = found.length > limit ? rows.at(-1) : undefined;
    return { rows, total, last: end ? { at: end.created_at, id: end._id } : null };
  };

  return {
    /**
     * A page of the organization's scans that match, newest first, how many match in all, and its last row where there are more. Searches
     * that must walk are made one at a time for each organization, so that none takes more than its share of the process.
     */
    async list(organizationId: string, { filter, isCounted }: ListQuestion, window: ListWindow) {
      const where: Filter<StoredScan> = { $and: [{ organization_id: organizationId }, filter] };
      return isCounted ? readPage(where, window) : serialized(organizationId, () => readPage(where, window));
    },

    /** How many of the organization's scans carry a tag. */
    async countWithTag(organizationId: string, slug: string): Promise<number> {
      return scans.countDocuments({ organization_id: organizationId, 'tags.tag_slug': slug });
    },

    /** Takes a tag off all of the organization's scans. */
    async removeTag(organizationId: string, slug: string): Promise<void> {
      const carries = { organization_id: organizationId, 'tags.tag_slug': slug };
      await scans.updateMany(carries, { $pull: { tags: { tag_slug: slug } } });
    },
  };
}
