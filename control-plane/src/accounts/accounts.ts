import type { Domain } from '../domain.ts';
import { dayShares } from '../platform/day-shares.ts';
import type { Origin, OutboxEntry, OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { Platform } from '../platform/platform.ts';
import { rememberBriefly } from '../platform/remember-briefly.ts';
import { addFirstOrganization, addOrganization } from './add-organization.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { auditStore } from './audit/audit-store.ts';
import { readBilling } from './billing/billing.ts';
import { creditRoutes } from './billing/credit-routes.ts';
import { bookCharge, creditPosting } from './billing/ledger-entry.ts';
import { billingRoutes } from './billing/ledger-routes.ts';
import { ledgerStore } from './billing/ledger-store.ts';
import { openAllowances } from './billing/open-allowances.ts';
import { recheckStore } from './billing/recheck-store.ts';
import { type ReleaseParts, startReleasing } from './billing/release-abandoned.ts';
import { usageByDay, usageOfMonth } from './billing/usage-by-day.ts';
import { usageRoutes } from './billing/usage-routes.ts';
import { credentialRoute } from './keys/credential-route.ts';
import { keyRoutes, keysOfOrganizationsRoutes } from './keys/key-routes.ts';
import { keyStore } from './keys/key-store.ts';
import { roleRoutes } from './keys/role-routes.ts';
import { type CredentialSettings, openCredentials } from './open-credentials.ts';
import { accountRoutes } from './organizations/account-routes.ts';
import {
  type Label,
  NO_QUOTAS,
  type OrganizationRecord,
  priceOfCheck,
  type Quotas,
} from './organizations/organization.ts';
import { organizationRoutes } from './organizations/organization-routes.ts';
import { organizationStore } from './organizations/organization-store.ts';
import { storedPerDay } from './stored-per-day.ts';

const REMEMBERED_MS = 1_000;

export type AccountsNeeds = Pick<ReleaseParts, 'countReserved' | 'isCreatingRun'>;

export type AccountsSettings = CredentialSettings & {
  /** Price of a check for organizations without their own price, in micros. */
  checkPriceMicros: number;
  /** The starting balance of an organization, in micros; null: no balance is enforced. */
  startBalanceMicros: number | null;
  /**
   * Megabytes of targets, and of answers for an `Idempotency-Key`, that an organization may store in a day; 0: no
   * bound.
   */
  storedMbPerDay: number;
  /**
   * How long keys and organizations are cached, because every request reads both; changes take effect at most this much
   * later.
   */
  rememberedMs?: number;
};

export type AccountsDomain = ReturnType<typeof accountsDomain>;

/** Organizations, their keys and quotas, and the ledger. */
export function accountsDomain(
  { store, redis, wake, metrics, logger }: Pick<Platform, 'store' | 'redis' | 'wake' | 'metrics' | 'logger'>,
  { countReserved, isCreatingRun }: AccountsNeeds,
  settings: AccountsSettings,
) {
  const { checkPriceMicros, startBalanceMicros, rememberedMs = REMEMBERED_MS } = settings;
  const [organizations, keys, ledger] = [organizationStore(store), keyStore(store), ledgerStore(store)];
  const shares = dayShares(store);
  const [rechecks, audits] = [recheckStore(store), auditStore(store)];
  const find = rememberBriefly((id) => organizations.find(id), rememberedMs);
  const quotasOf = async (id: string): Promise<Readonly<Quotas>> => (await find(id))?.quotas ?? NO_QUOTAS;
  const allowance = openAllowances({ store, ledger, quotasOf, countReserved, startBalanceMicros });
  const outboxFilled = () => wake.announce('outbox');
  /** Books a credit once, and lets it be spent. */
  const bookCredit = async (organizationId: string, credit: OutboxEntry<'credit'>) => {
    const booked = await ledger.book(creditPosting(organizationId, credit));
    await allowance.follow(organizationId);
    return booked;
  };
  const bookCheck = async (entry: OutboxEntry<'charge' | 'refund'>, origin: Origin) => {
    await bookCharge(ledger, entry, origin);
    metrics.booked.inc({ entry: entry.kind }, entry.amount_micros);
  };
  const outboxHandlers = {
    charge: bookCheck,
    refund: async (entry, origin) => {
      await bookCheck(entry, origin);
      await allowance.follow(origin.organizationId);
    },
    credit: async (entry, origin) => void (await bookCredit(origin.organizationId, entry)),
    recheck: (entry, origin) => rechecks.add(entry, origin),
    audit: (entry, origin) => audits.add(entry, origin),
  } satisfies Partial<OutboxHandlers>;
  const stored = storedPerDay(shares, settings.storedMbPerDay);
  const parts = { store, redis, logger, keys, quotasOf, stored, outboxFilled };
  const { oauth2, revoked, verbs: credentials } = openCredentials(parts, settings, rememberedMs);
  const addCustomer = (
    organization: Pick<OrganizationRecord, '_id' | 'name'>,
    { key, expiresAt }: { key: string; expiresAt: Date | null },
    audit: OutboxEntry<'audit'>,
  ) => addOrganization({ organizations, keys }, organization, key, new Date(), { expiresAt, follows: [audit] });
  const billing = (organizationId: string, now: Date) =>
    readBilling({ find, readAllowance: allowance.read }, organizationId, checkPriceMicros, now);

  return {
    stores: {
      ...oauth2.stores,
      keys,
      ledger,
      organizations,
      rechecks,
      audits,
      shares,
      allowances: allowance.allowances,
    },
    routes: {
      api: [
        ...accountRoutes({ organizations, outboxFilled }),
        credentialRoute({ organizations }),
        ...keyRoutes({ keys, organizations, revoked, outboxFilled }),
        ...roleRoutes({ organizations, outboxFilled }),
        ...oauth2.routes,
        ...auditRoutes({ readAuditLog: audits.list, organizations }),
        ...organizationRoutes({ organizations, addOrganization: addCustomer, outboxFilled }),
        ...keysOfOrganizationsRoutes({ keys, organizations, outboxFilled }),
        ...creditRoutes({ organizations, bookCredit, outboxFilled }),
        ...usageRoutes({
          ledger,
          readBilling: billing,
          readUsage: (organizationId, period) => usageByDay(ledger, organizationId, period),
          readMonth: (organizationId, period) => usageOfMonth(ledger, organizationId, period),
          countRechecks: rechecks.count,
        }),
        ...billingRoutes(ledger),
      ],
    },
    loops: {
      relay: () => [startReleasing({ allowances: allowance.allowances, countReserved, isCreatingRun, logger })],
    },
    outboxHandlers,
    verbs: {
      ...credentials,
      isActive: async (id: string) => (await find(id))?.status === 'active',
      /** The quotas of the organization; changes take effect within a second. */
      quotasOf,
      /** Where mails to the people of the organization go. */
      contactEmailsOf: async (id: string): Promise<string[]> => (await find(id))?.contact_emails ?? [],
      /** The labels that the organization has defined. */
      labelsOf: async (id: string): Promise<Label[]> => (await find(id))?.labels ?? [],
      /** Price of a check for the organization, in micros; throws 403 if it is not active. */
      priceOfCheck: (organizationId: string) => priceOfCheck({ find }, organizationId, checkPriceMicros),
      reserve: allowance.reserve,
      reserveRun: allowance.reserveRun,
      releaseRun: allowance.releaseRun,
      requireAllowed: allowance.requireAllowed,
      /** Throws 403 where the organization is not active or its balance covers no check: it causes no costs then. */
      async requireSolvent(organizationId: string): Promise<void> {
        const price = await priceOfCheck({ find }, organizationId, checkPriceMicros);
        await allowance.requireFunds(organizationId, price, new Date());
      },
      writeFinishedReservations: allowance.writeFinished,
      /** What the organization may store in a day. */
      storedPerDay: stored,

      /**
       * Gives the first organization the API key from the settings; '' for none. Returns whether no key existed before.
       */
      async setFirstKey(apiKey: string): Promise<boolean> {
        const isFirst = await keys.isEmpty();
        if (apiKey) await addFirstOrganization({ organizations, keys }, apiKey, new Date());
        else if (isFirst) logger.warn('no API key exists yet: set ADSWEEP_API_KEY');
        return isFirst && apiKey !== '';
      },
    },
  } satisfies Domain;
}
