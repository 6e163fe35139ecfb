import { SCAN_STATUSES, type ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { type Static, Type } from 'typebox';
import { type DayRange, dayRangeIssues, momentsOf } from '../../../http/calendar-days.ts';
import { given } from '../../../http/describe-schema-error.ts';
import type { Issue } from '../../../http/errors.ts';
import { pageQuery } from '../../../http/page.ts';
import type { Filter } from '../../../platform/store.ts';
import { LABEL_KEY } from '../request/label-key.ts';
import type { ScanRecord, Tiers } from '../state/scan.ts';

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
    tag: text('Comma-separated slugs; a scan that carries any matches.'),
    tag_match: Type.Optional(Type.Enum(['any', 'all'], { default: 'any', description: '`all`: every slug of `tag`.' })),
    brand: text('Any letter case.'),
    ai_category: text('Tiers joined with /, broadest first.'),
    iab_v3_category: text('Tiers joined with /, broadest first.'),
    ...pageQuery,
  },
  {
    additionalProperties: false,
    maxProperties: PARAMETERS_MAX,
    patternProperties: { [LABEL_PARAMETER]: Type.String({ minLength: 1, maxLength: TEXT_MAX }) },
  },
);

export type ScanListQuery = Static<typeof ScanListQuerySchema>;

const listOf = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** What the forms of the parameters cannot say: unknown statuses and timezones, days in the wrong order. */
export function listQueryIssues(query: Partial<ScanListQuery>): Issue[] {
  const unknown = listOf(query.status ?? '').filter((status) => !SCAN_STATUSES.some((known) => known === status));
  const issues = dayRangeIssues(query as DayRange);
  if (unknown.length > 0) {
    const msg = `Must be statuses: ${SCAN_STATUSES.join(', ')}.`;
    const ctx = { ...given(query.status), expected: SCAN_STATUSES };
    issues.unshift({ loc: ['query', 'status'], msg, type: 'enum', ctx });
  }
  return issues;
}

/** The question a list query asks of the organization's scans: all its conditions must hold. */
export function listFilter(query: ScanListQuery): Filter<ScanRecord> {
  const conditions: Filter<ScanRecord>[] = [];
  const { status, country_code, url, scan_id, tag, tag_match, brand } = query;
  if (status) conditions.push({ status: { $in: listOf(status) as ScanStatus[] } });
  if (country_code) conditions.push({ country_code: { $in: listOf(country_code.toUpperCase()) } });
  if (url) conditions.push({ 'target.kind': 'url', 'target.value': containing(url) });
  if (scan_id) conditions.push({ _id: { $in: listOf(scan_id) } });
  if (tag) conditions.push({ 'tags.tag_slug': tag_match === 'all' ? { $all: listOf(tag) } : { $in: listOf(tag) } });
  if (brand) conditions.push({ 'classification.brand': exactly(brand) });
  if (query.run_id) conditions.push({ run_id: query.run_id });
  if (query.campaign_id) conditions.push({ campaign_id: query.campaign_id });
  // No scan of this version has a parent or a campaign's group.
  if (query.group_id || query.parent_scan_id) conditions.push({ _id: { $in: [] } });
  conditions.push(
    ...tierConditions('ai_category', query.ai_category),
    ...tierConditions('iab_v3', query.iab_v3_category),
  );
  conditions.push(...labelConditions(query));
  const created = momentsOf(query as DayRange);
  if (created) conditions.push({ created_at: created });
  return conditions.length === 0 ? {} : { $and: conditions };
}

const escapeRegex = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const containing = (part: string) => ({ $regex: escapeRegex(part), $options: 'i' });
const exactly = (whole: string) => ({ $regex: `^${escapeRegex(whole)}$`, $options: 'i' });

const TIERS = ['tier1', 'tier2', 'tier3', 'tier4'] as const satisfies (keyof Tiers)[];

function tierConditions(tree: 'ai_category' | 'iab_v3', path: string | undefined): Filter<ScanRecord>[] {
  if (!path) return [];
  const names = path.split('/').map((name) => name.trim());
  if (names.length > TIERS.length) return [{ _id: { $in: [] } }];
  return names.map((name, depth) => ({ [`classification.${tree}.${TIERS[depth]}`]: exactly(name) }));
}

function labelConditions(query: ScanListQuery): Filter<ScanRecord>[] {
  return Object.entries(query)
    .filter(([name]) => new RegExp(LABEL_PARAMETER).test(name))
    .map(([name, value]) => ({ [`labels.${name.slice('label_'.length)}`]: value }) as Filter<ScanRecord>);
}
