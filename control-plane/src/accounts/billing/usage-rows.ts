import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { isWithin, momentsOf, orderIssue } from '../../http/calendar-days.ts';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { moment, ok, type Route, route } from '../../http/route.ts';
import { type LedgerEntry, postingIdOf } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

export type UsageRowParts = { ledger: Pick<LedgerStore, 'list' | 'find'> };

const UsageSchema = Type.Object(
  {
    id: Type.String({ description: 'That of the ledger entry.' }),
    scan_id: Type.String(),
    charged_micros: Type.Integer(),
    balance_after_micros: Type.Integer(),
    within_plan: Type.Boolean({ description: 'Always false: there are no plans.' }),
    event_type: Type.String({
      description:
        'The kind of target; `ad_discovery`: a sweep; `discovered_ad`: an ad that a sweep found; `scan`: not known. New values can be added.',
    }),
    created_at: moment(),
  },
  { title: 'Usage' },
);

/** A day, or a moment. */
const bound = (ofDay: string, ofMoment: string) =>
  Type.Optional(
    Type.Union([Type.String({ format: 'date' }), moment()], {
      description: `${ofDay} (UTC), or ${ofMoment}.`,
    }),
  );

const UsageQuerySchema = Type.Object(
  {
    date_from: bound('First day', 'the first moment'),
    date_to: bound('Last day', 'the moment before which it ends'),
    scan_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    ...pageQuery,
  },
  { additionalProperties: false },
);

type Bounds = { date_from?: string | undefined; date_to?: string | undefined };

/** What was charged, one row for each check. */
export function usageRowsRoute({ ledger }: UsageRowParts): Route<Caller> {
  return route({
    method: 'GET',
    group: 'Billing',
    permission: 'billing.read',
    path: '/api/v1/billing/usage',
    summary: 'Charged checks',
    description: 'One row for each check, newest first. What was refunded later is in the ledger.',
    query: UsageQuerySchema,
    replies: { 200: { description: 'A page of charges.', schema: pageSchema(UsageSchema) } },
    refine: ({ query }) => boundIssues(query as Bounds),
    handle: async ({ caller: { organizationId }, query }) => {
      const { skip, limit } = rowsOf(query);
      const created = periodOf(query as Bounds);
      if (query.scan_id === undefined) {
        const { rows, total } = await ledger.list(organizationId, { types: ['usage_charge'], created }, skip, limit);
        return ok(presentPage(rows.map(presentUsage), total, query));
      }
      const entry = await ledger.find(organizationId, postingIdOf('charge', query.scan_id));
      const rows = entry && isWithin(entry.created_at, created) ? [presentUsage(entry)] : [];
      return ok(presentPage(rows.slice(skip, skip + limit), rows.length, query));
    },
  });
}

const isDay = (text: string): boolean => text.length === '2026-11-03'.length;

/** The period from `date_from` to the end of the day `date_to`, or up to that moment; null without bounds. */
function periodOf({ date_from, date_to }: Bounds): { $gte?: Date; $lt?: Date } | null {
  if (date_from === undefined && date_to === undefined) return null;
  const start = date_from && (isDay(date_from) ? momentsOf({ date_from })?.$gte : new Date(date_from));
  const end = date_to && (isDay(date_to) ? momentsOf({ date_to })?.$lt : new Date(date_to));
  return { ...(start && { $gte: start }), ...(end && { $lt: end }) };
}

/** By the moments: the texts may have offsets, and one of them may be a day. */
function boundIssues(bounds: Bounds): Issue[] {
  const { $gte, $lt } = periodOf(bounds) ?? {};
  return $gte && $lt && $gte > $lt ? [orderIssue('date', bounds.date_from, bounds.date_to)] : [];
}

function presentUsage(entry: LedgerEntry) {
  return {
    id: entry._id,
    scan_id: entry.reference_id ?? '',
    // 0 - amount: a charge of 0 is 0 and not -0.
    charged_micros: 0 - entry.amount_micros,
    balance_after_micros: entry.balance_after_micros,
    within_plan: false,
    event_type: entry.target_kind ?? 'scan',
    created_at: entry.created_at.toISOString(),
  };
}
