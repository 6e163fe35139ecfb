import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import type { Route } from '../../http/route.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { CREDIT_TYPES, type LedgerEntry } from './ledger-entry.ts';
import { LedgerSchema, presentEntry } from './ledger-routes.ts';

export type CreditParts = {
  organizations: Pick<OrganizationStore, 'change'>;
  /** Books a credit, unless it is booked already, and returns its entry. */
  bookCredit: (organizationId: string, credit: OutboxEntry<'credit'>) => Promise<LedgerEntry>;
  outboxFilled: () => void;
};

/**
 * The most micros of one posting: a ledger of thousands of them stays within the integers that JSON carries exactly.
 */
const AMOUNT_MAX = 1_000_000_000_000;

const CreditInSchema = Type.Object(
  {
    amount_micros: Type.Integer({
      minimum: -AMOUNT_MAX,
      maximum: AMOUNT_MAX,
      description: 'More than 0; an `admin_adjustment` may also be less.',
    }),
    type: Type.Enum(CREDIT_TYPES),
    description: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
    document_number: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })),
  },
  {
    additionalProperties: false,
    title: 'CreditIn',
    examples: [
      {
        amount_micros: 50_000_000,
        type: 'top_up_manual',
        description: 'Bank transfer of 3 November',
        document_number: 'INV-17',
      },
    ],
  },
);

/** Credits and corrections that the operator books for an organization (spec 2.8). */
export function creditRoutes({ organizations, bookCredit, outboxFilled }: CreditParts): Route<Caller>[] {
  const credits = resource<LedgerEntry>({
    group: 'Organizations',
    path: '/api/v1/organizations/{id}/credits',
    id: null,
    noun: 'organization',
    permission: 'organizations.manage',
    schema: LedgerSchema,
    presenter: () => presentEntry,
    written: outboxFilled,
  });
  return [
    credits.create({
      summary: 'Credit an organization',
      description:
        'Books a payment, or a correction, which may be negative. It can be spent at once. Send an `Idempotency-Key`: a repeated request books nothing twice.',
      body: CreditInSchema,
      reply: 'The entry of the ledger.',
      refine: ({ body }) => amountIssues(body),
      create: async ({ caller, params, id, body, now, audit }) => {
        const organizationId = params.id!;
        const { document_number = null, ...posting } = body;
        const about = { ...posting, document_number };
        const credit = {
          id: `credit:${id}`,
          at: now,
          kind: 'credit' as const,
          ...about,
          actor_id: caller.keyId,
        };
        const logged = audit('organization.credited', organizationId, about);
        if (!(await organizations.change(organizationId, {}, [credit, logged]))) throw notFound('organization');
        // The outbox books it if this process ends before it has.
        return bookCredit(organizationId, credit);
      },
    }),
  ];
}

function amountIssues({ amount_micros, type }: Partial<Static<typeof CreditInSchema>>): Issue[] {
  const isCorrection = type === undefined || type === 'admin_adjustment';
  if (amount_micros === undefined || amount_micros > 0 || (amount_micros < 0 && isCorrection)) return [];
  const msg = isCorrection ? 'Must not be 0.' : 'Must be greater than 0.';
  return [{ loc: ['body', 'amount_micros'], msg, type: 'greater_than', ctx: given(amount_micros) }];
}
