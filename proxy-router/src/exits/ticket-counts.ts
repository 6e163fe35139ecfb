import type { Exit } from '../providers/exit.ts';

/** How many tickets are in use for each exit that is listed and each account of a vendor. */
export class TicketCounts {
  readonly #counts = new Map<string, number>();

  opened(exitId: string): void {
    this.#change(exitId, 1);
  }

  closed(exitId: string): void {
    this.#change(exitId, -1);
  }

  /** Whether the exit or its account has all the tickets that it may have. */
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

/** The exit, or the account that the id of a vendor's exit begins with. */
const countedId = (exitId: string): string => exitId.split('/', 1)[0]!;
