import { readFileSync } from 'node:fs';
import type { Tiers } from '../../scan/scan.ts';

/**
 * Categories of advertised things, broadest tier: our own list, so that filters and policies mean the same in every
 * scan.
 */
export const AI_CATEGORIES = [
  'Adult content',
  'Alcohol, tobacco and vaping',
  'Antivirus and system tools',
  'Automotive',
  'Beauty and fashion',
  'Browser extensions and VPN',
  'Business services',
  'Cryptocurrency',
  'Dating',
  'E-commerce',
  'Education',
  'Entertainment and streaming',
  'Finance and insurance',
  'Food and drink',
  'Gambling and betting',
  'Games',
  'Health and medicine',
  'Home and real estate',
  'Jobs',
  'Mobile apps',
  'News and media',
  'Non-profit',
  'Politics and government',
  'Software and technology',
  'Sports and fitness',
  'Supplements and weight loss',
  'Surveys, sweepstakes and giveaways',
  'Technical support',
  'Telecommunications',
  'Trading and investment',
  'Travel',
  'Parked or empty page',
  'Other',
] as const;

const table = JSON.parse(readFileSync(new URL('./tables/iab-content-taxonomy.json', import.meta.url), 'utf8')) as {
  categories: [id: string, ...path: string[]][];
};

/** A category of the IAB Content Taxonomy 3.0: its unique id, and its path from the broadest tier. */
export type IabCategory = { id: string; path: string[] };

/** All categories, in the order of the standard's table. */
export const IAB_CATEGORIES: readonly IabCategory[] = table.categories.map(([id, ...path]) => ({ id, path }));

const BY_ID = new Map(IAB_CATEGORIES.map((category) => [category.id, category]));

/** The tiers of a category according to the table; null: the table has no such id. */
export function iabTiers(id: string): (Tiers & { id: string }) | null {
  const category = BY_ID.get(id);
  return category ? { id, ...tiersOf(category.path) } : null;
}

/** A path as tiers; tiers below its end are null. */
export function tiersOf(path: readonly string[]): Tiers {
  return { tier1: path[0] ?? '', tier2: path[1] ?? null, tier3: path[2] ?? null, tier4: path[3] ?? null };
}
