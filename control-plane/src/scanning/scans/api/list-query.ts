import { SCAN_STATUSES, type ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { type DayRange, dayRangeIssues, momentsOf } from '../../../http/calendar-days.ts';
import { cursorQuery, pageQuery } from '../../../http/page.ts';
import { containing, type Filter } from '../../../platform/store.ts';
import { type FilterKind, filterKey, labelPair } from '../../../scan/filter-keys.ts';
import type { ListQuestion } from '../../../scan/scan-list-store.ts';
import type { StoredScan } from '../../../scan/stored-scan.ts';
import { LABEL_KEY } from '../request/label-key.ts';

const TEXT_MAX = 4_096;
const LIST_MAX = 20_000;
const PARAMETERS_MAX = 50;

const text = (description: string, maxLength = TEXT_MAX) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));

/** `label_` and a label's key. */
const LABEL_PARAMETER = LABEL_KEY.source.replace('^', '^label_');

/** Query parameters of `GET /scans`. */
export const ScanListQuerySchema = Type.Object(
  {
    status: text('Comma-separated statuses.'),
    country_code: text('Comma-separated, any letter case.'),
    url: text('Part of the page URL, any letter case.'),
    scan_id: text('Comma-separated ids.', LIST_MAX),
    date_from: Type.Optional(Type.String({ format: 'date', description: 'First day of creation.' })),
    date_to: Type.Optional(Type.String({ format: 'date', description: 'Last day of creation.' })),
    timezone: text('IANA timezone of the days; UTC.'),
    run_id: text('Scans of this run.'),
    campaign_id: text('Scans of this campaign.'),
    group_id: text('Scans of campaigns in this group.'),
    parent_scan_id: text('Ads found by this sweep.'),
    repeat_leader_id: text('The group of repeats that this scan is the first of.'),
    tag: text('Comma-separated slugs; a scan with any of them matches.'),
    tag_match: Type.Optional(Type.Enum(['any', 'all'], { default: 'any', description: '`all`: every slug of `tag`.' })),
    brand: text('Any letter case.'),
    ai_category: text('Tiers joined with /, broadest first.'),
    iab_v3_category: text('Tiers joined with /, broadest first.'),
    ...pageQuery,
    ...cursorQuery,
  },
  {
    additionalProperties: false,
    maxProperties: PARAMETERS_MAX,
    patternProperties: { [LABEL_PARAMETER]: Type.String({ minLength: 1, maxLength: TEXT_MAX }) },
  },
);

export type ScanListQuery = Static<typeof ScanListQuerySchema>;

/** The items of a list, each once: a search tests each of them. */
export const listOf = (value: string): string[] => {
  const items = value.split(',').map((item) => item.trim());
  return [...new Set(items.filter((item) => item !== ''))];
};

/** Problems that the schema cannot express: unknown statuses and timezones, days in the wrong order. */
export function listQueryIssues(query: Partial<ScanListQuery>): Issue[] {
  const unknown = listOf(query.status ?? '').filter((status) => !SCAN_STATUSES.some((known) => known === status));
  const issues = dayRangeIssues(query as DayRange);
  if (unknown.length > 0) {
    const msg = `Must be one or more of ${SCAN_STATUSES.join(', ')}.`;
    const ctx = { ...given(query.status), expected: SCAN_STATUSES };
    issues.unshift({ loc: ['query', 'status'], msg, type: 'enum', ctx });
  }
  return issues;
}

/**
 * The store's query for the parameters of a list: all conditions must hold. No scan has an archived tag (spec 2.5).
 * `campaigns`: those of the group of the query, which are read for each request, because a campaign can be moved.
 */
export function listQuestion(
  query: ScanListQuery,
  { isInService = () => true, campaigns = null }: { isInService?: IsInService; campaigns?: string[] | null } = {},
): ListQuestion {
  const { status, country_code, url, scan_id, tag, tag_match } = query;
  const conditions: Filter<StoredScan>[] = [];
  if (scan_id) conditions.push({ _id: { $in: listOf(scan_id) } });
  conditions.push(...keysOf(query).map((key) => ({ filter_keys: key })));
  if (tag) conditions.push(...tagConditions(listOf(tag), tag_match, isInService));
  if (status) conditions.push({ status: { $in: listOf(status) as ScanStatus[] } });
  if (country_code) conditions.push({ country_code: { $in: listOf(country_code.toUpperCase()) } });
  // Of other targets the value is '', which contains nothing.
  if (url) conditions.push({ 'target.value': containing(url) });
  if (campaigns) conditions.push(campaignCondition(campaigns));
  const created = momentsOf(query as DayRange);
  if (created) conditions.push({ created_at: created });
  // The store counts one value of a field as it writes; all others are counted by a walk.
  const isCounted = conditions.length < 2 && !url && (campaigns?.length ?? 0) < 2 && !(tag && listOf(tag).length > 1);
  return { filter: conditions.length === 0 ? {} : { $and: conditions }, isCounted };
}

const NONE: Filter<StoredScan> = { _id: { $in: [] } };

/** Scans of few campaigns are read from the index of each; those of many are found in the list of all scans. */
const INDEXED_CAMPAIGNS_MAX = 50;

function campaignCondition(ids: string[]): Filter<StoredScan> {
  const [first] = ids;
  if (first === undefined) return NONE;
  if (ids.length === 1) return { filter_keys: filterKey('campaign', first) };
  if (ids.length > INDEXED_CAMPAIGNS_MAX) return { campaign_id: { $in: ids } };
  return { filter_keys: { $in: ids.map((id) => filterKey('campaign', id)) } };
}

type IsInService = (slug: string) => boolean;

function tagConditions(
  slugs: string[],
  match: ScanListQuery['tag_match'],
  isInService: IsInService,
): Filter<StoredScan>[] {
  if (slugs.length === 0) return [NONE];
  const known = slugs.filter(isInService);
  if (match === 'all') return known.length < slugs.length ? [NONE] : slugs.map((slug) => ({ 'tags.tag_slug': slug }));
  return [{ 'tags.tag_slug': known.length === 1 ? known[0]! : { $in: known } }];
}

/** The rarer kinds first: a search walks along the first one. */
function keysOf(query: ScanListQuery): string[] {
  const one = (kind: FilterKind, value: string | undefined) => (value === undefined ? [] : [filterKey(kind, value)]);
  return [
    ...one('run', query.run_id),
    ...one('parent', query.parent_scan_id),
    ...one('repeat', query.repeat_leader_id),
    ...one('campaign', query.campaign_id),
    ...one('brand', query.brand),
    ...labelsOf(query).map(([key, value]) => filterKey('label', labelPair(key, value))),
    ...one('ai_category', trimmedPath(query.ai_category)),
    ...one('iab_v3', trimmedPath(query.iab_v3_category)),
  ];
}

const trimmedPath = (path: string | undefined): string | undefined =>
  path
    ?.split('/')
    .map((name) => name.trim())
    .join('/');

function labelsOf(query: ScanListQuery): [key: string, value: string][] {
  return Object.entries(query)
    .filter(([name]) => new RegExp(LABEL_PARAMETER).test(name))
    .map(([name, value]) => [name.slice('label_'.length), String(value)]);
}
