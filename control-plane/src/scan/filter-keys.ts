import type { ScanRecord, Tiers } from './scan.ts';

/** Kinds of filters of lists that compare a single value. */
export type FilterKind =
  | 'run'
  | 'run_outcome'
  | 'run_unplanned'
  | 'parent'
  | 'repeat'
  | 'look'
  | 'changed'
  | 'campaign'
  | 'brand'
  | 'label'
  | 'ai_category'
  | 'iab_v3';

/** The fields that the keys are derived from. */
export type FilterSource = Pick<
  ScanRecord,
  | 'run_id'
  | 'band'
  | 'final_status'
  | 'parent_scan_id'
  | 'repeat'
  | 'campaign_id'
  | 'look'
  | 'changes'
  | 'country_code'
  | 'emulator_id'
  | 'labels'
  | 'classification'
>;

/** The entry for a value in a scan's `filter_keys`; brands and categories match in any letter case. */
export function filterKey(kind: FilterKind, value: string): string {
  return `${kind}:${ANY_CASE.has(kind) ? value.toLowerCase() : value}`;
}

const ANY_CASE = new Set<FilterKind>(['brand', 'ai_category', 'iab_v3']);

/** A label as the value of a filter key. */
export const labelPair = (key: string, value: string): string => `${key}=${value}`;

/** The priority class of the scans that a run creates by its plan. */
export const CAMPAIGN_CLASS = 2;

/**
 * What scans of different runs must have in common to be compared: a campaign changes its target, and scans that are
 * posted have many.
 */
export const comparisonKey = ({
  campaign_id,
  country_code,
  emulator_id,
  look,
}: Pick<ScanRecord, 'country_code' | 'emulator_id' | 'look'> & { campaign_id: string }): string =>
  [campaign_id, country_code, emulator_id, ...(look?.target === undefined ? [] : [look.target])].join('/');

/** All keys of a scan: one index over them serves all these filters and counts the matches of each value. */
export function filterKeysOf(scan: FilterSource): string[] {
  const { run_id, band, final_status, parent_scan_id, repeat, campaign_id, labels, classification } = scan;
  const one = (kind: FilterKind, value: string | null | undefined) => (value ? [filterKey(kind, value)] : []);
  return [
    ...one('run', run_id),
    ...one('run_outcome', run_id && final_status ? `${run_id}/${final_status}` : null),
    ...one('run_unplanned', parent_scan_id !== null || band !== CAMPAIGN_CLASS ? run_id : null),
    ...one('parent', parent_scan_id),
    ...one('repeat', repeat?.leader_id),
    ...one('campaign', campaign_id),
    ...one('look', scan.look && campaign_id && comparisonKey({ ...scan, campaign_id })),
    ...one('changed', scan.changes?.length ? campaign_id : null),
    ...one('brand', classification?.brand),
    ...Object.entries(labels).map(([key, value]) => filterKey('label', labelPair(key, value))),
    ...pathsOf(classification?.ai_category).map((path) => filterKey('ai_category', path)),
    ...pathsOf(classification?.iab_v3).map((path) => filterKey('iab_v3', path)),
  ];
}

/** A category and its ancestors as paths, such as `Shopping` and `Shopping/Shoes`: a filter by any of them matches. */
function pathsOf(tiers: Tiers | null | undefined): string[] {
  if (!tiers) return [];
  const names = [tiers.tier1, tiers.tier2, tiers.tier3, tiers.tier4].filter((name) => name !== null);
  return names.map((_, depth) => names.slice(0, depth + 1).join('/'));
}
