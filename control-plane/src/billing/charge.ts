import type { MoneyEntry } from '../outbox/outbox-entry.ts';
import { scanEntry } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

/** Books what a scan's creation charged or what it gave back; booked once, however often it is called for the same entry. */
export async function bookMoney(
  ledger: Pick<LedgerStore, 'add'>,
  { kind, amount_micros, at }: MoneyEntry,
  scan: { organizationId: string; scanId: string },
): Promise<void> {
  await ledger.add(scanEntry(kind, scan, amount_micros, at));
}
