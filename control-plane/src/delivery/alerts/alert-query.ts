import { DAY_MS } from '@adsweep/shared/durations.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { type DayRange, dayRangeIssues, momentsOf } from '../../http/calendar-days.ts';
import { orNull } from '../../http/route.ts';
import { ALERT_STATUSES, type AlertStatus } from '../../platform/outbox/outbox-entry.ts';
import type { AlertFilter } from './alert-filter.ts';

const LIST_MAX = 20_000;
const ITEMS_MAX = 500;
const IDS_MAX = 1_000;
/** A range with both ends has at most this many days (spec 8). */
const DAYS_MAX = 366;

const list = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: LIST_MAX, description }));
const word = (description: string) => Type.String({ minLength: 1, maxLength: 300, description });
const day = (description: string) => Type.String({ format: 'date', description });

/** Query parameters of the statistics. */
export const statsQuery = {
  scan_id: Type.Optional(word('Alerts of this scan.')),
  campaign_id: Type.Optional(word('Alerts of this campaign.')),
  policy_set_id: list('Comma-separated policy sets.'),
  tag: list('Comma-separated tag slugs, or keys such as `brand:Acme`.'),
  country_code: list('Comma-separated, any letter case.'),
  date_from: Type.Optional(day('First day of creation.')),
  date_to: Type.Optional(day('Last day of creation.')),
  timezone: Type.Optional(word('IANA timezone of the days; UTC.')),
};

/** Query parameters of the list. */
export const listQuery = { status: list('Comma-separated statuses.'), ...statsQuery };

const ListQuery = Type.Object(listQuery);
export type AlertQuery = Static<typeof ListQuery>;

const values = (description: string) =>
  Type.Optional(orNull(Type.Array(word('A value.'), { minItems: 1, maxItems: ITEMS_MAX, description })));
const sent = <S extends Parameters<typeof orNull>[0]>(schema: S) => Type.Optional(orNull(schema));
const Status = Type.Enum([...ALERT_STATUSES]);

/** Body of `PATCH /alerts/{alert_id}/status`. */
export const AlertStatusInSchema = Type.Object(
  { status: Status },
  { additionalProperties: false, title: 'AlertStatusIn' },
);

/** Body of `POST /alerts/bulk-status`. */
export const AlertBulkInSchema = Type.Object(
  {
    status: Status,
    ids: sent(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: IDS_MAX })),
    all_matching: Type.Optional(
      Type.Boolean({ default: false, description: 'Every alert that the filters match; without filters all.' }),
    ),
    filter_status: sent(Status),
    filter_scan_id: sent(word('Alerts of this scan.')),
    filter_campaign_id: sent(word('Alerts of this campaign.')),
    filter_policy_set_ids: values('Any of these policy sets.'),
    filter_tag_slugs: values('Any of these tags or keys.'),
    filter_country_codes: values('Any of these countries, any letter case.'),
    filter_date_from: sent(day('First day of creation.')),
    filter_date_to: sent(day('Last day of creation.')),
    filter_timezone: sent(word('IANA timezone of the days; required with a day.')),
  },
  { additionalProperties: false, title: 'AlertBulkIn' },
);
export type AlertBulkIn = Static<typeof AlertBulkInSchema>;

/** The items of a comma-separated list, each once. */
const itemsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
];

const isStatus = (text: string): text is AlertStatus => ALERT_STATUSES.some((known) => known === text);

/**
 * Problems that the schema cannot express: unknown statuses and timezones, days in the wrong order or too far apart.
 */
export function alertQueryIssues(query: Partial<AlertQuery>): Issue[] {
  const unknown = itemsOf(query.status ?? '').filter((status) => !isStatus(status));
  const msg = `Must be one or more of ${ALERT_STATUSES.join(', ')}.`;
  const ctx = { given: query.status, expected: ALERT_STATUSES };
  return [
    ...(unknown.length > 0 ? [{ loc: ['query', 'status'], msg, type: 'enum', ctx }] : []),
    ...rangeIssues(query as DayRange),
  ];
}

function rangeIssues(range: DayRange): Issue[] {
  const issues = dayRangeIssues(range);
  const { date_from, date_to } = range;
  if (issues.length > 0 || date_from === undefined || date_to === undefined) return issues;
  const days = (Date.parse(date_to) - Date.parse(date_from)) / DAY_MS + 1;
  if (days <= DAYS_MAX) return [];
  const msg = `The range has ${days} days; it may have ${DAYS_MAX}.`;
  return [{ loc: ['query', 'date_to'], msg, type: 'range_too_long', ctx: { given: date_to } }];
}

/** A filter as a request has it: its tags are not yet checked for being searchable. */
export type SentFilter = AlertFilter & { statuses: readonly AlertStatus[] };

export function readAlertQuery(query: AlertQuery): SentFilter {
  const { status, scan_id, campaign_id, policy_set_id, tag, country_code } = query;
  return {
    statuses: status === undefined ? ALERT_STATUSES : itemsOf(status).filter(isStatus),
    ...(scan_id !== undefined && { scan_id }),
    ...(campaign_id !== undefined && { campaign_id: [campaign_id] }),
    ...(policy_set_id !== undefined && { policy_set_id: itemsOf(policy_set_id) }),
    ...(tag !== undefined && { tag_slug: itemsOf(tag) }),
    ...(country_code !== undefined && { country_code: itemsOf(country_code.toUpperCase()) }),
    created: momentsOf(query as DayRange),
  };
}

/** The days of a bulk change. */
const bulkRange = ({ filter_date_from, filter_date_to, filter_timezone }: Partial<AlertBulkIn>): DayRange => ({
  date_from: filter_date_from ?? undefined,
  date_to: filter_date_to ?? undefined,
  timezone: filter_timezone ?? undefined,
});

/** What is wrong with a bulk change beyond its schema. */
export function bulkIssues(body: Partial<AlertBulkIn>, refused: ReadonlySet<string>): Issue[] {
  const issue = (field: string, type: string, msg: string, given: unknown): Issue => ({
    loc: ['body', field],
    msg,
    type,
    ctx: given === undefined ? {} : { given },
  });
  const { ids, all_matching = false } = body;
  const hasIds = ids != null;
  const filters = Object.entries(body).filter(([name, value]) => name.startsWith('filter_') && value !== null);
  const range = bulkRange(body);
  const hasDay = range.date_from !== undefined || range.date_to !== undefined;
  return [
    ...(hasIds && all_matching ? [issue('ids', 'invalid_combination', 'Send ids or all_matching.', undefined)] : []),
    ...(!hasIds && !all_matching && !refused.has('ids') && !refused.has('all_matching')
      ? [issue('ids', 'missing', 'Send ids or all_matching.', undefined)]
      : []),
    ...(hasIds
      ? filters.map(([name]) => issue(name, 'invalid_combination', 'Only with all_matching.', undefined))
      : []),
    ...(hasDay && range.timezone === undefined && !refused.has('filter_timezone')
      ? [issue('filter_timezone', 'missing', 'Required with a day.', undefined)]
      : []),
    ...rangeIssues(range).map(({ loc, ...rest }) => ({ ...rest, loc: ['body', `filter_${loc[1]}`] })),
  ];
}

export function readBulkFilter(body: AlertBulkIn): SentFilter {
  const { filter_status, filter_scan_id, filter_campaign_id } = body;
  const { filter_policy_set_ids, filter_tag_slugs, filter_country_codes } = body;
  return {
    statuses: filter_status ? [filter_status] : ALERT_STATUSES,
    ...(filter_scan_id && { scan_id: filter_scan_id }),
    ...(filter_campaign_id && { campaign_id: [filter_campaign_id] }),
    ...(filter_policy_set_ids && { policy_set_id: filter_policy_set_ids }),
    ...(filter_tag_slugs && { tag_slug: filter_tag_slugs }),
    ...(filter_country_codes && { country_code: filter_country_codes.map((code) => code.toUpperCase()) }),
    created: momentsOf(bulkRange(body)),
  };
}
