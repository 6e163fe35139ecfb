import { readFileSync } from 'node:fs';
import type { Tiers } from '../../scan/scan.ts';

const table = JSON.parse(readFileSync(new URL('./tables/iab-content-taxonomy.json', import.meta.url), 'utf8')) as {
  categories: [id: string, ...path: string[]][];
};

/** A category of the IAB Content Taxonomy 3.0: its unique id, and its names from the broadest. */
export type IabCategory = { id: string; path: string[] };

/** All categories, in the order of the standard's table. */
export const IAB_CATEGORIES: readonly IabCategory[] = table.categories.map(([id, ...path]) => ({ id, path }));

const BY_ID = new Map(IAB_CATEGORIES.map((category) => [category.id, category]));

/** The tiers of a category, which the table alone decides; null: it has no such id. */
export function iabTiers(id: string): (Tiers & { id: string }) | null {
  const category = BY_ID.get(id);
  return category ? { id, ...tiersOf(category.path) } : null;
}

/** A path as tiers, the deeper ones null where it ends. */
export function tiersOf(path: readonly string[]): Tiers {
  return { tier1: path[0] ?? '', tier2: path[1] ?? null, tier3: path[2] ?? null, tier4: path[3] ?? null };
}
