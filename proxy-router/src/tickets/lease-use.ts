import { allowanceOf, type LeaseAllowance } from '@adsweep/shared/lease/exit-session.ts';
import { setNewest } from '@adsweep/shared/service/set-newest.ts';

/** Leases that are remembered, about 200 bytes each: those of enrolled nodes in the last hours are fewer. */
const LEASES_MAX = 50_000;

/**
 * What the tickets of enrolled nodes have been given, by the session of their lease: how many there were, and the bytes
 * that they may transfer. A ticket that is deleted returns what it has not transferred.
 */
export class LeaseUse {
  readonly #used = new Map<string, LeaseAllowance>();

  /**
   * The bytes that a further ticket of a lease of so many attempts may transfer, at most `wanted`; 0: it may have none.
   */
  bytesFor(session: string, attempts: number, wanted: number): number {
    const allowed = allowanceOf(attempts);
    const { tickets, bytes } = this.#usedOf(session);
    return tickets < allowed.tickets ? Math.max(0, Math.min(wanted, allowed.bytes - bytes)) : 0;
  }

  /** Adds to what a lease has used; negative: what it has returned. */
  add(session: string, { tickets, bytes }: LeaseAllowance): void {
    const used = this.#usedOf(session);
    const sum = { tickets: used.tickets + tickets, bytes: used.bytes + bytes };
    setNewest(this.#used, session, sum, LEASES_MAX);
  }

  #usedOf = (session: string): LeaseAllowance => this.#used.get(session) ?? { tickets: 0, bytes: 0 };
}
