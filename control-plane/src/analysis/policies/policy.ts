import type { Violation } from '../../platform/outbox/outbox-entry.ts';
import { fold } from '../../reference/catalogue/lookup.ts';
import { inService, type Tags } from '../../reference/tags/tag-definitions.ts';
import type { ScanRecord, ScanTaxonomy, Tiers } from '../../scan/scan.ts';

/** The kinds of entries of a policy set. */
export const POLICY_RULE_TYPES = ['tag', 'iab_v3', 'brand', 'ai_category', 'custom_taxonomy'] as const;

/** What an entry forbids: of the value fields, the one of its kind. */
export type PolicyValue =
  | { rule_type: 'tag'; tag_slug: string }
  | { rule_type: 'iab_v3'; iab_v3: Tiers & { id: string } }
  | { rule_type: 'brand'; brand: string }
  | { rule_type: 'ai_category'; ai_category: Tiers }
  | { rule_type: 'custom_taxonomy'; custom_taxonomy: Tiers & { taxonomy_id: string } };

/**
 * An entry of a policy set. `country_codes`: alpha-2, in order; none: every country. Its id follows from its set and
 * its content.
 */
export type PolicyEntry = PolicyValue & { id: string; country_codes: string[] };

/** What the scans of a campaign are held against. */
export type Policy = { id: string; name: string; entries: PolicyEntry[] };

/** What an entry is compared with. `tag_slugs`: the tags of the scan that are in service. */
export type Judged = Pick<ScanRecord, 'country_code' | 'classification'> & { tag_slugs: ReadonlySet<string> };

/** The violations of `entries` by a scan, in their order. Pure. */
export function violationsOf(entries: readonly PolicyEntry[], judged: Judged, tags: Tags): Violation[] {
  return entries.flatMap((entry) => {
    const { id: entry_id, country_codes, rule_type } = entry;
    if (country_codes.length > 0 && !country_codes.includes(judged.country_code)) return [];
    const match = matchOf(entry, judged, tags);
    return match ? [{ entry_id, rule_type, ...match }] : [];
  });
}

type Match = Omit<Violation, 'entry_id' | 'rule_type'>;

function matchOf(entry: PolicyEntry, { classification, tag_slugs }: Judged, tags: Tags): Match | null {
  switch (entry.rule_type) {
    case 'tag': {
      const tag = inService(tags, entry.tag_slug);
      if (!tag || !tag_slugs.has(entry.tag_slug)) return null;
      const { slug, display_name, severity } = tag;
      return { tag_slug: slug, tag_display_name: display_name, severity, matched_value: null };
    }
    case 'brand': {
      const brand = classification?.brand ?? null;
      const isSame = brand !== null && sameName(brand, entry.brand);
      return isSame ? keyed(`brand:${entry.brand}`, `Brand: ${entry.brand}`, brand) : null;
    }
    case 'iab_v3': {
      const found = classification?.iab_v3 ?? null;
      if (!found || !begins(found, entry.iab_v3)) return null;
      return keyed(`iab_v3:${entry.iab_v3.id}`, `IAB: ${pathOf(entry.iab_v3)}`, pathOf(found));
    }
    case 'ai_category': {
      const found = classification?.ai_category ?? null;
      if (!found || !begins(found, entry.ai_category)) return null;
      const path = pathOf(entry.ai_category);
      return keyed(`ai_category:${path}`, `Category: ${path}`, pathOf(found));
    }
    case 'custom_taxonomy': {
      const { taxonomy_id } = entry.custom_taxonomy;
      const found = classification?.custom_taxonomies.find((one) => one.taxonomy_id === taxonomy_id);
      if (!found || !hasTiers(found) || !begins(found, entry.custom_taxonomy)) return null;
      const path = pathOf(entry.custom_taxonomy);
      return keyed(`custom_taxonomy:${found.taxonomy_slug}:${path}`, `${found.taxonomy_name}: ${path}`, pathOf(found));
    }
  }
}

/** Lists of keys are separated by commas, so that a key has none. */
const keyed = (key: string, tag_display_name: string, matched_value: string): Match => {
  return { tag_slug: key.replaceAll(',', ''), tag_display_name, severity: null, matched_value };
};

const sameName = (one: string, other: string): boolean => foldedName(one) === foldedName(other);

/** Sites write their own names in any letter case, with composed letters or without. */
const foldedName = (name: string): string => fold(name.trim());

const hasTiers = (found: ScanTaxonomy): found is ScanTaxonomy & Tiers => found.tier1 !== null;

/** The names of a path, broadest first. */
export const tierNames = ({ tier1, tier2, tier3, tier4 }: Tiers): string[] =>
  [tier1, tier2, tier3, tier4].filter((name) => name !== null);

const pathOf = (tiers: Tiers): string => tierNames(tiers).join(' > ');

/** Whether a path begins with the tiers of an entry. */
function begins(found: Tiers, wanted: Tiers): boolean {
  const names = tierNames(found);
  return tierNames(wanted).every((name, depth) => names[depth] !== undefined && sameName(names[depth], name));
}
