import { DAY_MS } from '@adsweep/shared/durations.ts';
import { USAGE_KINDS } from '@adsweep/shared/scan/usage-kind.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { type DayRange, dayRangeIssues, momentsOf } from '../../http/calendar-days.ts';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { moment, ok, orNull, type Route, route } from '../../http/route.ts';
import { type Billing, monthPeriod } from './billing.ts';
import type { RecheckStore } from './recheck-store.ts';
import type { DayUsage, Period } from './usage-by-day.ts';
import { type UsageRowParts, usageRowsRoute } from './usage-rows.ts';

export type UsageParts = UsageRowParts & {
  readBilling: (organizationId: string, now: Date) => Promise<Billing>;
  readUsage: (organizationId: string, period: Period) => Promise<DayUsage[]>;
  readMonth: (organizationId: string, period: Period) => Promise<{ checks: number; charged_micros: number }>;
  countRechecks: RecheckStore['count'];
};

const DAYS_MAX = 366;

const NoPlan = Type.Null({ description: 'Always null: there are no plans.' });

const BillingSchema = Type.Object(
  {
    balance_micros: Type.Integer({ description: 'Credits minus charges; can be negative if no balance is enforced.' }),
    plan_name: NoPlan,
    plan_id: NoPlan,
    checks_per_period: orNull(
      Type.Integer({ description: '`checks_per_month` of the organization; null: unlimited.' }),
    ),
    checks_used: Type.Integer({ description: 'Checks of this month without refunded ones.' }),
    period_start: moment(),
    period_end: moment(),
    price_per_extra_check_micros: Type.Integer({ description: 'Price of a check.' }),
    current_plan_is_custom: Type.Boolean(),
    is_suspended: Type.Boolean(),
    scheduled_next_plan_id: NoPlan,
    scheduled_next_plan_name: NoPlan,
    scheduled_effective_at: NoPlan,
    can_create_scan: Type.Boolean(),
    block_reason: orNull(
      Type.String({ description: '`suspended`, `quota_exhausted` or `insufficient_funds`; new values can be added.' }),
    ),
    billing_mode: Type.String({ description: '`prepaid` if the balance is enforced, else `postpaid`.' }),
    credit_limit_micros: Type.Integer(),
    effective_minimum_balance_micros: Type.Integer(),
  },
  { title: 'Billing' },
);
const usage = {
  checks: Type.Integer({ description: 'Checks that were charged.' }),
  charged_micros: Type.Integer(),
  refunds: Type.Integer({ description: 'Checks that were refunded on this day, even if they were charged earlier.' }),
  refunded_micros: Type.Integer(),
};
const UsageKind = Type.Enum(USAGE_KINDS, {
  description: 'The kind of target; `ad_discovery`: a sweep; `discovered_ad`: an ad that a sweep found.',
});
const DayUsageSchema = Type.Object(
  { date: Type.String({ format: 'date' }), kind: UsageKind, ...usage },
  { title: 'UsageOfDay' },
);
const UsageQuerySchema = Type.Object(
  {
    date_from: Type.Optional(
      Type.String({
        format: 'date',
        description: 'First day (UTC); default: the first day of the month of `date_to`.',
      }),
    ),
    date_to: Type.Optional(Type.String({ format: 'date', description: 'Last day (UTC); default: today.' })),
    ...pageQuery,
  },
  { additionalProperties: false },
);
const SummarySchema = Type.Object(
  {
    period_start: moment(),
    period_end: moment(),
    checks: Type.Integer({
      description: 'Charged checks without refunded ones, each in the month in which it was counted.',
    }),
    rechecks: Type.Integer({ description: 'Rechecks are free of charge.' }),
    within_plan: Type.Integer({ description: 'Always 0: there are no plans.' }),
    overage: Type.Integer(),
    charged_micros: Type.Integer({ description: 'Charges minus refunds of these checks.' }),
  },
  { title: 'UsageSummary' },
);

const shared = { method: 'GET', group: 'Billing', permission: 'billing.read' } as const;

/** An organization's balance, quota and usage (spec 4.5). */
export function usageRoutes(parts: UsageParts): Route<Caller>[] {
  return [billingRoute(parts), usageRowsRoute(parts), usageByDayRoute(parts), summaryRoute(parts)];
}

function billingRoute({ readBilling }: UsageParts): Route<Caller> {
  return route({
    ...shared,
    path: '/api/v1/billing',
    summary: 'Balance and quota',
    replies: { 200: { description: 'The current balance and quota.', schema: BillingSchema } },
    handle: async ({ caller }) => ok(presentBilling(await readBilling(caller.organizationId, new Date()))),
  });
}

function usageByDayRoute({ readUsage }: UsageParts): Route<Caller> {
  return route({
    ...shared,
    path: '/api/v1/billing/usage/daily',
    summary: 'Usage by day and kind',
    description: `Charges and refunds per day and kind, newest first. At most ${DAYS_MAX} days.`,
    query: UsageQuerySchema,
    replies: {
      200: { description: 'A page of usage, one item per day and kind.', schema: pageSchema(DayUsageSchema) },
    },
    refine: ({ query }) => periodIssues(query as DayRange, new Date()),
    handle: async ({ caller, query }) => {
      const rows = await readUsage(caller.organizationId, periodOf(query as DayRange, new Date()));
      const { skip, limit } = rowsOf(query);
      return ok(presentPage(rows.slice(skip, skip + limit), rows.length, query));
    },
  });
}

function summaryRoute({ readMonth, countRechecks }: UsageParts): Route<Caller> {
  return route({
    ...shared,
    path: '/api/v1/billing/usage/summary',
    summary: 'Usage of this month',
    replies: { 200: { description: 'The usage that has been booked.', schema: SummarySchema } },
    handle: async ({ caller: { organizationId } }) => {
      const period = monthPeriod(new Date());
      const [{ checks, charged_micros }, rechecks] = await Promise.all([
        readMonth(organizationId, period),
        countRechecks(organizationId, period),
      ]);
      return ok({ ...presentPeriod(period), checks, rechecks, within_plan: 0, overage: checks, charged_micros });
    },
  });
}

/** The requested days; by default from the first day of the month until today. */
function periodOf({ date_from, date_to }: DayRange, now: Date): Period {
  const last = date_to ?? now.toISOString().slice(0, 10);
  const { $gte, $lt } = momentsOf({ date_from: date_from ?? `${last.slice(0, 8)}01`, date_to: last }) ?? {};
  return { from: $gte ?? now, to: $lt ?? now };
}

function periodIssues(range: DayRange, now: Date): Issue[] {
  const issues = dayRangeIssues(range);
  if (issues.length > 0) return issues;
  const { from, to } = periodOf(range, now);
  if (to.getTime() - from.getTime() <= DAYS_MAX * DAY_MS) return [];
  const msg = `Must not be more than ${DAYS_MAX} days before the last one.`;
  return [{ loc: ['query', 'date_from'], msg, type: 'range_too_long', ctx: { given: range.date_from } }];
}

const presentPeriod = ({ from, to }: Period) => ({ period_start: from.toISOString(), period_end: to.toISOString() });

function presentBilling({ period, ...billing }: Billing) {
  return {
    ...billing,
    ...presentPeriod(period),
    plan_name: null,
    plan_id: null,
    current_plan_is_custom: false,
    scheduled_next_plan_id: null,
    scheduled_next_plan_name: null,
    scheduled_effective_at: null,
    can_create_scan: billing.block_reason === null,
    credit_limit_micros: 0,
    effective_minimum_balance_micros: 0,
  };
}
