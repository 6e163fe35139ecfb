import type { LedgerStore } from './ledger-store.ts';

/** What else within the accounts asks of the ledger. */
export type InternalLedger = Pick<LedgerStore, 'book' | 'creditsAfter'>;
