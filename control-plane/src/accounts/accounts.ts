import type { OutboxEntry, OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { Platform } from '../platform/platform.ts';
import { rememberBriefly } from '../platform/remember-briefly.ts';
import { addFirstOrganization, addOrganization } from './add-organization.ts';
import { openAllowances } from './allowance/open-allowances.ts';
import { readBilling } from './allowance/read-billing.ts';
import { type ReleaseParts, startReleasing } from './allowance/release-abandoned.ts';
import { auditStore } from './audit/audit-store.ts';
import { bookCharge } from './billing/book-charge.ts';
import { ledgerStore } from './billing/ledger-store.ts';
import { recheckStore } from './billing/recheck-store.ts';
import { type Period, usageByDay } from './billing/usage-by-day.ts';
import { findCaller } from './keys/find-caller.ts';
import { keyStore } from './keys/key-store.ts';
import { noteUse } from './keys/note-use.ts';
import type { Label, OrganizationRecord } from './organizations/organization.ts';
import { organizationStore } from './organizations/organization-store.ts';
import { priceOfCheck } from './organizations/price-of-check.ts';
import { NO_QUOTAS, type Quotas } from './organizations/quotas.ts';
import { limitRequests } from './rate-limit/limit-requests.ts';
import { requestCounter } from './rate-limit/request-counter.ts';

/** Changes of keys and organizations take effect after this time; every request needs both. */
const REMEMBERED_MS = 1_000;

/** `startBalanceMicros`: the starting balance of an organization; absent or null: no balance is enforced. */
export type AccountsSettings = { startBalanceMicros?: number | null };

export type AccountsDomain = ReturnType<typeof accountsDomain>;

/** Organizations, their keys and quotas, and the ledger. */
export function accountsDomain(
  { store, redis, logger }: Pick<Platform, 'store' | 'redis' | 'logger'>,
  { startBalanceMicros = null }: AccountsSettings,
) {
  const [organizations, keys, ledger] = [organizationStore(store), keyStore(store), ledgerStore(store)];
  const [rechecks, audits] = [recheckStore(store), auditStore(store)];
  const find = rememberBriefly((id) => organizations.find(id), REMEMBERED_MS);
  const quotasOf = async (id: string): Promise<Readonly<Quotas>> => (await find(id))?.quotas ?? NO_QUOTAS;
  const allowance = openAllowances({ store, ledger, quotasOf, startBalanceMicros });
  const outboxHandlers: Pick<OutboxHandlers, 'charge' | 'refund' | 'recheck' | 'audit'> = {
    charge: (entry, origin) => bookCharge(ledger, entry, origin),
    refund: async (entry, origin) => {
      await bookCharge(ledger, entry, origin);
      await allowance.follow(origin.organizationId);
    },
    recheck: (entry, origin) => rechecks.add(entry, origin),
    audit: (entry, origin) => audits.add(entry, origin),
  };
  const readKey = async (hash: string) => {
    const key = await keys.findByHash(hash);
    // Not awaited: the next use records it too.
    if (key)
      noteUse(keys, key, new Date()).catch((cause: unknown) =>
        logger.debug({ cause }, 'the last use of a key was not recorded'),
      );
    return key;
  };
  const findByHash = rememberBriefly(readKey, REMEMBERED_MS);
  return {
    stores: [keys, ledger, organizations, rechecks, audits, allowance.allowances],
    outboxHandlers,
    outboxSources: [organizations.outbox, keys.outbox],
    keys,
    organizations,
    addOrganization: (
      organization: Pick<OrganizationRecord, '_id' | 'name'>,
      { key, expiresAt }: { key: string; expiresAt: Date | null },
      audit: OutboxEntry<'audit'>,
    ) => addOrganization({ organizations, keys }, organization, key, new Date(), { expiresAt, follows: [audit] }),
    /** The labels that the organization uses. */
    labelsOf: async (id: string): Promise<Label[]> => (await find(id))?.labels ?? [],
    isActive: async (id: string) => (await find(id))?.status === 'active',
    readAuditLog: audits.list,
    readUsage: (organizationId: string, period: Period) => usageByDay(ledger, organizationId, period),
    countRechecks: rechecks.count,
    readBilling: (organizationId: string, usualMicros: number, now: Date) =>
      readBilling({ find, readAllowance: allowance.read }, organizationId, usualMicros, now),
    readLedger: ledger.list,
    findCaller: limitRequests({
      findCaller: (key) => findCaller({ findByHash }, key, new Date()),
      quotasOf,
      countRequest: requestCounter(redis),
    }),
    /** The quotas of the organization; changes take effect within a second. */
    quotasOf,
    priceOfCheck: (organizationId: string, usualMicros: number) => priceOfCheck({ find }, organizationId, usualMicros),

    reserve: allowance.reserve,
    requireAllowed: allowance.requireAllowed,
    settleReservations: allowance.settleAll,
    loops: {
      /** `countScans` returns how many scans with these ids an organization has. */
      relay: (countScans: ReleaseParts['countScans']) => [
        startReleasing({ allowances: allowance.allowances, countScans, logger }),
      ],
    },

    /** Gives the first organization the API key from the settings; '' for none. */
    async setFirstKey(apiKey: string): Promise<void> {
      if (apiKey) await addFirstOrganization({ organizations, keys }, apiKey, new Date());
      if (await keys.isEmpty()) logger.warn('nobody has a key: set ADSWEEP_API_KEY');
    },
  };
}
