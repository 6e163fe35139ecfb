import type { Origin, OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { scanPosting } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

/** Books what a scan's creation charged or what is refunded; booked once, however often it is called for the same entry. */
export async function bookCharge(
  ledger: Pick<LedgerStore, 'book'>,
  { kind, amount_micros, at, target_kind, charged_at = at }: OutboxEntry<'charge' | 'refund'>,
  origin: Origin,
): Promise<void> {
  await ledger.book(scanPosting(kind, origin, amount_micros, at, { targetKind: target_kind, chargedAt: charged_at }));
}
