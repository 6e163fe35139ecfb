import type { Exit } from '../providers/exit.ts';

/** The number of tickets in use for each listed exit and each vendor's account. */
export class TicketCounts {
  readonly #counts = new Map<string, number>();

  opened(exitId: string): void {
    this.#change(exitId, 1);
  }

  closed(exitId: string): void {
    this.#change(exitId, -1);
  }

  /** Whether the exit or its account is at its ticket limit. */
  isFull({ id, tickets_max }: Exit): boolean {
    return tickets_max !== undefined && (this.#counts.get(countedId(id)) ?? 0) >= tickets_max;
  }

  #change(exitId: string, by: number): void {
    const key = countedId(exitId);
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

/** The id of a listed exit, or the account in the id of a vendor's exit. */
const countedId = (exitId: string): string => exitId.split('/', 1)[0]!;
