import { Type } from 'typebox';
import { type DayRange, dayRangeIssues, isWithin, momentsOf } from '../../http/calendar-days.ts';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, orNull, type Route } from '../../http/route.ts';
import { LEDGER_TYPES, type LedgerEntry } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

const TextOrNull = orNull(Type.String());

export const LedgerSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.String({
      description: 'New values can be added: treat an unknown type as a change of the balance by the signed amount.',
    }),
    amount_micros: Type.Integer({ description: 'Signed.' }),
    balance_after_micros: Type.Integer(),
    description: Type.String(),
    reference_kind: TextOrNull,
    reference_id: TextOrNull,
    document_number: orNull(Type.String({ description: 'Of a credit: the invoice or receipt.' })),
    actor_user_id: orNull(Type.String({ description: "Of a credit: the operator's key that booked it." })),
    created_at: moment(),
  },
  { title: 'Ledger' },
);

/** The organization's ledger (spec 2.8, 4.5). */
export function billingRoutes(store: Pick<LedgerStore, 'list' | 'ofScan'>): Route<Caller>[] {
  const ledger = resource<LedgerEntry>({
    group: 'Billing',
    path: '/api/v1/billing/history',
    id: null,
    noun: 'entry',
    permission: 'billing.read',
    schema: LedgerSchema,
    presenter: () => presentEntry,
  });
  return [
    ledger.page({
      summary: 'Ledger',
      description: 'Charges and refunds, newest first, each with the balance after it.',
      query: {
        scan_id: Type.Optional(
          Type.String({ minLength: 1, maxLength: 100, description: 'The charge of this scan, and its refund.' }),
        ),
        date_from: Type.Optional(Type.String({ format: 'date', description: 'First day, UTC.' })),
        date_to: Type.Optional(Type.String({ format: 'date', description: 'Last day, UTC.' })),
        type: Type.Optional(Type.Array(Type.Enum(LEDGER_TYPES), { maxItems: 20, description: 'Repeatable.' })),
      },
      reply: 'A page of entries.',
      refine: ({ query }) => dayRangeIssues(query as DayRange),
      rows: async ({ organizationId, query }, { skip, limit }) => {
        const [types, created] = [query.type ?? null, momentsOf(query as DayRange)];
        if (query.scan_id === undefined) return store.list(organizationId, { types, created }, skip, limit);
        const rows = (await store.ofScan(organizationId, query.scan_id)).filter(
          ({ type, created_at }) => (types === null || types.includes(type)) && isWithin(created_at, created),
        );
        return { rows: rows.slice(skip, skip + limit), total: rows.length };
      },
    }),
  ];
}

/** An entry as it is answered. */
export function presentEntry(entry: LedgerEntry) {
  return {
    id: entry._id,
    type: entry.type,
    amount_micros: entry.amount_micros,
    balance_after_micros: entry.balance_after_micros,
    description: entry.description,
    reference_kind: entry.reference_kind,
    reference_id: entry.reference_id,
    document_number: entry.document_number ?? null,
    actor_user_id: entry.actor_user_id ?? null,
    created_at: entry.created_at.toISOString(),
  };
}
