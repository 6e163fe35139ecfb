import type { Logger } from '@adsweep/shared/service/logger.ts';
import { TICKET_SECONDS_MAX } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { TicketCounts, TicketHolder } from '../exits/ticket-counts.ts';
import { ActiveTicket } from './active-ticket.ts';
import { LeaseUse } from './lease-use.ts';
import type { TicketClaims } from './ticket.ts';
import type { TicketJournal } from './ticket-journal.ts';

/** How long after its expiry a ticket's traffic can still be read. */
const TRAFFIC_KEPT_MS = 600_000;
/** A ticket's bytes are written to the journal each time it has used this part of its limit since the last time. */
const JOURNALED_PART = 1 / 20;
const SWEEP_MS = 1_000;

/**
 * Tickets of an enrolled node that are neither deleted nor forgotten: more than it has slots, since each of its
 * attempts deletes its own.
 */
const TICKETS_OF_NODE_MAX = 512;

/**
 * A ticket without a connection for this long does not count as one in use, until it has one again: its node may be
 * gone, and that of a sweep expires only after an hour and a half.
 */
const UNUSED_AFTER_MS = 180_000;

/** `isCounted`: whether the ticket counts as one in use of its exit. */
type Entry = { ticket: ActiveTicket; journaledBytes: number; isCounted: boolean };

/** The tickets that this process has issued or served. Times are Unix milliseconds. */
export class TicketRegistry {
  readonly #bytesMax: number;
  readonly #journal: TicketJournal;
  readonly #counts: TicketCounts;
  readonly #unusedAfterMs: number;
  /** What the leases of enrolled nodes have used. */
  readonly leases = new LeaseUse();
  readonly #entries = new Map<string, Entry>();
  /** The tickets of each enrolled node. */
  readonly #held = new Map<string, Set<ActiveTicket>>();
  #sweeping: NodeJS.Timeout | undefined;

  /** `bytesMax`: byte limit of one ticket, both directions together. */
  constructor(bytesMax: number, journal: TicketJournal, counts: TicketCounts, unusedAfterMs = UNUSED_AFTER_MS) {
    this.#unusedAfterMs = unusedAfterMs;
    this.#bytesMax = bytesMax;
    this.#journal = journal;
    this.#counts = counts;
  }

  /**
   * The ticket with these verified claims, null when it was deleted. A ticket is added on its first use, because
   * another router may have issued it, or this one before a restart; its byte count then continues from the journal.
   */
  open(claims: TicketClaims): ActiveTicket | null {
    const known = this.find(claims.id);
    if (known) return known;
    const record = this.#journal.find(claims.id);
    if (record?.deleted) return null;
    const ticket = new ActiveTicket(claims, Math.min(claims.bytes ?? this.#bytesMax, this.#bytesMax), record);
    const entry = { ticket, journaledBytes: ticket.bytes, isCounted: false };
    const { holder } = ticket;
    this.#entries.set(claims.id, entry);
    this.#count(entry);
    if (holder === null) return ticket;
    this.#held.set(holder, this.#heldBy(holder).add(ticket));
    this.leases.add(claims.session, { tickets: 1, bytes: ticket.bytesMax });
    return ticket;
  }

  /** Whether a holder has as many tickets as one may have. */
  hasTooMany(holder: TicketHolder): boolean {
    return this.#heldBy(holder).size >= TICKETS_OF_NODE_MAX;
  }

  /** The connections to targets of all tickets of an enrolled node; 0 for any other holder. */
  streamsOf(holder: TicketHolder): number {
    return [...this.#heldBy(holder)].reduce((sum, { streams }) => sum + streams, 0);
  }

  find(ticketId: string): ActiveTicket | undefined {
    return this.#entries.get(ticketId)?.ticket;
  }

  /**
   * Ends a ticket before it expires: its connections are closed and its traffic is dropped at once; resolves when the
   * deletion is on the disk. A ticket that only another router knows, or this one before a restart, is deleted here
   * too: `ticketId` must be one that was issued, because each takes a record of the journal. Throws the system's
   * errors.
   */
  async delete(ticketId: string, now: number): Promise<void> {
    const entry = this.#entries.get(ticketId);
    const ticket = entry?.ticket;
    ticket?.close();
    if (entry) this.#remove(ticketId, entry);
    const expires = ticket?.claims.expires ?? now + TICKET_SECONDS_MAX * 1000;
    if (!this.#journal.find(ticketId)?.deleted)
      this.#journal.append({ id: ticketId, expires, deleted: true, bytes_sent: 0, bytes_received: 0 });
    await this.#journal.sync();
  }

  /** Sweeps every second from now on. The first failure and the recovery are logged, not every failure in between. */
  start(logger: Logger): void {
    let failing = false;
    this.#sweeping = setInterval(() => {
      try {
        this.#sweep(Date.now());
        if (failing) logger.info('the journal of tickets is written again');
        failing = false;
      } catch (cause) {
        if (!failing) logger.error({ cause }, 'the journal of tickets cannot be written');
        failing = true;
      }
    }, SWEEP_MS);
  }

  /** Closes all connections and journals the bytes of every ticket. */
  stop(now: number): void {
    clearInterval(this.#sweeping);
    for (const { ticket } of this.#entries.values()) {
      ticket.count();
      ticket.close();
    }
    this.#writeBytes(now, 0);
    this.#journal.close();
  }

  /**
   * Counts the bytes of open connections, closes those of expired tickets, and drops old tickets and journal records.
   */
  #sweep(now: number): void {
    for (const entry of this.#entries.values()) {
      const { ticket } = entry;
      const { id, expires } = ticket.claims;
      ticket.count();
      if (now >= expires) ticket.close();
      if (ticket.isClosed || ticket.unusedMs >= this.#unusedAfterMs) this.#uncount(entry);
      else this.#count(entry);
      if (now >= expires + TRAFFIC_KEPT_MS) this.#remove(id, entry);
    }
    this.#writeBytes(now, JOURNALED_PART);
    this.#journal.sweep(now);
  }

  #remove(ticketId: string, entry: Entry): void {
    this.#uncount(entry);
    this.#entries.delete(ticketId);
    const { ticket } = entry;
    const { holder } = ticket;
    if (holder === null) return;
    const held = this.#heldBy(holder);
    if (held.delete(ticket) && held.size === 0) this.#held.delete(holder);
    this.leases.add(ticket.claims.session, { tickets: 0, bytes: -Math.max(0, ticket.bytesMax - ticket.bytes) });
  }

  #count(entry: Entry): void {
    if (!entry.isCounted) this.#counts.opened(entry.ticket.claims.exit, entry.ticket.holder);
    entry.isCounted = true;
  }

  #uncount(entry: Entry): void {
    if (entry.isCounted) this.#counts.closed(entry.ticket.claims.exit, entry.ticket.holder);
    entry.isCounted = false;
  }

  #heldBy = (holder: TicketHolder): Set<ActiveTicket> =>
    (holder === null ? undefined : this.#held.get(holder)) ?? new Set();

  /** Journals the tickets that have transferred at least `part` of their limit since their last record. */
  #writeBytes(now: number, part: number): void {
    for (const entry of this.#entries.values()) {
      const { ticket, journaledBytes } = entry;
      const { id, expires } = ticket.claims;
      if (now >= expires || ticket.bytes - journaledBytes < Math.max(1, ticket.bytesMax * part)) continue;
      const { bytes } = ticket;
      this.#journal.append({ id, expires, deleted: false, ...ticket.transferred });
      entry.journaledBytes = bytes;
    }
  }
}
