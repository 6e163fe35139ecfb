import { addCount } from '@adsweep/shared/service/add-count.ts';
import { setNewest } from '@adsweep/shared/service/set-newest.ts';
import type { Exit } from '../providers/exit.ts';

/** Who holds tickets: an enrolled node by its name; null: a caller with the join token, who can be any node. */
export type TicketHolder = string | null;

/** So long after it asked for a ticket, a caller counts as one of those that share the exits. */
const SHARES_FOR_MS = 600_000;
/** Callers that are remembered; enrolled nodes are much fewer. */
const HOLDERS_MAX = 1_000;

/**
 * The number of tickets in use for each listed exit and each vendor's account. An enrolled node that holds half of an
 * account's does not get the last eighth of them while others ask for tickets too, so that it cannot keep all others
 * from an exit. `now` is monotonic time in ms.
 */
export class TicketCounts {
  readonly #counts = new Map<string, number>();
  readonly #askedAt = new Map<TicketHolder, number>();

  opened(exitId: string, holder: TicketHolder): void {
    this.#change(exitId, holder, 1);
  }

  closed(exitId: string, holder: TicketHolder): void {
    this.#change(exitId, holder, -1);
  }

  /** To be called for each request of a holder, also for one that is refused. */
  asked(holder: TicketHolder, now: number): void {
    setNewest(this.#askedAt, holder, now, HOLDERS_MAX);
  }

  /** Whether the exit or its account is at its ticket limit, or at what this holder may have of it. */
  isFull({ id, tickets_max }: Exit, holder: TicketHolder, now: number): boolean {
    if (tickets_max === undefined) return false;
    const left = tickets_max - this.#countOf(countedId(id));
    if (left <= 0) return true;
    const own = holder === null ? 0 : this.#countOf(heldId(id, holder));
    return own >= tickets_max / 2 && left <= Math.ceil(tickets_max / 8) && this.#othersAsk(holder, now);
  }

  #othersAsk(holder: TicketHolder, now: number): boolean {
    return [...this.#askedAt].some(([other, at]) => other !== holder && now - at < SHARES_FOR_MS);
  }

  #countOf = (key: string): number => this.#counts.get(key) ?? 0;

  #change(exitId: string, holder: TicketHolder, by: number): void {
    addCount(this.#counts, countedId(exitId), by);
    if (holder !== null) addCount(this.#counts, heldId(exitId, holder), by);
  }
}

/** The id of a listed exit, or the account in the id of a vendor's exit. */
const countedId = (exitId: string): string => exitId.split('/', 1)[0]!;
const heldId = (exitId: string, holder: string): string => `${countedId(exitId)}/${holder}`;
