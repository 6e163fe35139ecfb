import type { OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { Platform } from '../platform/platform.ts';
import { bookCharge } from './billing/book-charge.ts';
import { ledgerStore } from './billing/ledger-store.ts';
import { accountStore } from './organizations/account-store.ts';
import { addFirstOrganization } from './organizations/add-organization.ts';
import { findCaller } from './organizations/find-caller.ts';

/** Organizations, their keys and the ledger. */
export function accountsDomain({ store, logger }: Pick<Platform, 'store' | 'logger'>) {
  const [accounts, ledger] = [accountStore(store), ledgerStore(store)];
  const outboxHandlers: Pick<OutboxHandlers, 'charge' | 'refund'> = {
    charge: (entry, origin) => bookCharge(ledger, entry, origin),
    refund: (entry, origin) => bookCharge(ledger, entry, origin),
  };
  return {
    stores: [accounts, ledger],
    outboxHandlers,
    readLedger: ledger.list,
    findCaller: (key: string) => findCaller(accounts, key, new Date()),

    /** Gives the first organization the key of the settings; '' for none. */
    async setFirstKey(apiKey: string): Promise<void> {
      if (apiKey) await addFirstOrganization(accounts, apiKey, new Date());
      if (!(await accounts.hasKeys())) logger.warn('nobody has a key: set ADSWEEP_API_KEY');
    },
  };
}
