import { Type } from 'typebox';
import { type DayRange, dayRangeIssues, momentsOf } from '../../http/calendar-days.ts';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { ok, orNull, type Route, route } from '../../http/route.ts';
import { LEDGER_TYPES, type LedgerEntry } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

/** Entries of an organization's ledger, newest first, and how many there are in all. */
export type ReadLedger = LedgerStore['list'];

const TextOrNull = orNull(Type.String());

const LedgerSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.String({
      description: 'An open list: take an unknown type as a change of the balance by the signed amount.',
    }),
    amount_micros: Type.Integer({ description: 'Signed.' }),
    balance_after_micros: Type.Integer(),
    description: Type.String(),
    reference_kind: TextOrNull,
    reference_id: TextOrNull,
    document_number: TextOrNull,
    actor_user_id: TextOrNull,
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Ledger' },
);

const HistoryQuerySchema = Type.Object(
  {
    date_from: Type.Optional(Type.String({ format: 'date', description: 'First day, UTC.' })),
    date_to: Type.Optional(Type.String({ format: 'date', description: 'Last day, UTC.' })),
    type: Type.Optional(Type.Array(Type.Enum(LEDGER_TYPES), { maxItems: 20, description: 'Repeatable.' })),
    ...pageQuery,
  },
  { additionalProperties: false },
);

/** The organization's ledger (spec 2.8, 4.5). */
export function billingRoutes(readLedger: ReadLedger): Route<Caller>[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/billing/history',
      group: 'Billing',
      summary: 'Ledger',
      description: 'Charges and refunds, newest first, each with the balance after it.',
      permission: 'billing.read',
      query: HistoryQuerySchema,
      replies: { 200: { description: 'A page of entries.', schema: pageSchema(LedgerSchema) } },
      refine: ({ query }) => dayRangeIssues(query as DayRange),
      handle: async ({ caller, query }) => {
        const { skip, limit } = rowsOf(query);
        const filter = { types: query.type ?? null, created: momentsOf(query as DayRange) };
        const { rows, total } = await readLedger(caller.organizationId, filter, skip, limit);
        return ok(presentPage(rows.map(presentEntry), total, query));
      },
    }),
  ];
}

function presentEntry(entry: LedgerEntry) {
  return {
    id: entry._id,
    type: entry.type,
    amount_micros: entry.amount_micros,
    balance_after_micros: entry.balance_after_micros,
    description: entry.description,
    reference_kind: entry.reference_kind,
    reference_id: entry.reference_id,
    document_number: null,
    actor_user_id: null,
    created_at: entry.created_at.toISOString(),
  };
}
