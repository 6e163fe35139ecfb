import { isId } from '@adsweep/shared/ids.ts';
import { TICKET_SECONDS_MAX } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Ticket } from './ticket.ts';
import { TicketAccount } from './ticket-account.ts';
import type { TicketJournal } from './ticket-journal.ts';

/** How long after its expiry a ticket's traffic can still be asked for. */
const KEPT_MS = 600_000;
/** The bytes of a ticket are written down each time another part of its budget is used up: this one, or less. */
const JOURNALED_PART = 1 / 20;

type Entry = { account: TicketAccount; journaledBytes: number };

/** The accounts of all tickets that this process issued or carried. Times are Unix milliseconds. */
export class TicketAccounts {
  readonly #bytesMax: number;
  readonly #journal: TicketJournal;
  readonly #entries = new Map<string, Entry>();

  /** `bytesMax`: what one ticket may carry, both directions together. */
  constructor(bytesMax: number, journal: TicketJournal) {
    this.#bytesMax = bytesMax;
    this.#journal = journal;
  }

  /**
   * The account of a ticket, null for one that was deleted. It is begun with the ticket's first use, for another router may have issued
   * it, or this one before a restart; then it goes on from the bytes that the journal has.
   */
  of(ticket: Ticket): TicketAccount | null {
    const known = this.find(ticket.id);
    if (known) return known;
    const record = this.#journal.find(ticket.id);
    if (record?.deleted) return null;
    const account = new TicketAccount(ticket, this.#bytesMax, record);
    this.#entries.set(ticket.id, { account, journaledBytes: account.bytes });
    return account;
  }

  find(ticketId: string): TicketAccount | undefined {
    return this.#entries.get(ticketId)?.account;
  }

  /**
   * Ends a ticket before its time: closes what it has open and drops its account, at once; resolves when that would outlive a power
   * cut. A ticket that only another router knows is deleted here too. Throws the system's errors.
   */
  async delete(ticketId: string, now: number): Promise<void> {
    const entry = this.#entries.get(ticketId);
    if (!entry && !isId(ticketId)) return;
    entry?.account.closeAll();
    this.#entries.delete(ticketId);
    const expires = entry?.account.ticket.expires ?? now + TICKET_SECONDS_MAX * 1000;
    this.#journal.append({ id: ticketId, expires, deleted: true, bytes_sent: 0, bytes_received: 0 });
    await this.#journal.sync();
  }

  /** Counts open connections, closes those of expired tickets, forgets old accounts and keeps the journal. Throws the system's errors. */
  sweep(now: number): void {
    for (const { account } of this.#entries.values()) {
      const { id, expires } = account.ticket;
      account.count();
      if (now >= expires) account.closeAll();
      if (now >= expires + KEPT_MS) this.#entries.delete(id);
    }
    this.#writeBytes(now, this.#bytesMax * JOURNALED_PART);
    this.#journal.sweep(now);
  }

  /** Closes all connections and writes down what every ticket has carried. */
  close(now: number): void {
    for (const { account } of this.#entries.values()) {
      account.count();
      account.closeAll();
    }
    this.#writeBytes(now, 1);
    this.#journal.close();
  }

  /** Appends the tickets that have carried at least `bytes` more than the journal knows. */
  #writeBytes(now: number, bytes: number): void {
    for (const entry of this.#entries.values()) {
      const { account, journaledBytes } = entry;
      const { id, expires } = account.ticket;
      if (now >= expires || account.bytes - journaledBytes < bytes) continue;
      entry.journaledBytes = account.bytes;
      this.#journal.append({ id, expires, deleted: false, ...account.carried });
    }
  }
}
