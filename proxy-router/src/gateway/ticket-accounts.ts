import type { Ticket } from '../exits/ticket.ts';
import { TicketAccount } from './ticket-account.ts';

/** How long after its expiry a ticket's traffic can still be asked for. */
const KEPT_MS = 600_000;

/** The accounts of all tickets this process issued or carried. Times are Unix milliseconds. */
export class TicketAccounts {
  readonly #bytesMax: number;
  readonly #accounts = new Map<string, { account: TicketAccount; expires: number }>();

  /** `bytesMax`: what one ticket may carry, both directions together. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The account of a ticket, begun with its first use: another router may have issued it, or this one before a restart. */
  of(ticket: Ticket): TicketAccount {
    const known = this.find(ticket.id);
    if (known) return known;
    const account = new TicketAccount(ticket.id, this.#bytesMax);
    this.#accounts.set(ticket.id, { account, expires: ticket.expires });
    return account;
  }

  find(ticketId: string): TicketAccount | undefined {
    return this.#accounts.get(ticketId)?.account;
  }

  /** Closes what a ticket has open and drops its account. */
  forget(ticketId: string): void {
    this.find(ticketId)?.closeAll();
    this.#accounts.delete(ticketId);
  }

  /** Counts open connections, closes those of expired tickets, and forgets old accounts. */
  sweep(now: number): void {
    for (const [ticketId, { account, expires }] of this.#accounts) {
      account.count();
      if (now >= expires) account.closeAll();
      if (now >= expires + KEPT_MS) this.#accounts.delete(ticketId);
    }
  }
}
