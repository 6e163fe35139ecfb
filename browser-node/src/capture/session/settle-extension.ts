import { FLOOD_REQUESTS, SETTLE_EXTENSION_MS, SETTLE_FACTOR_MAX } from './budgets.ts';
import type { OpenTab } from './open-tabs.ts';
import type { PendingRequests } from './pending-requests.ts';
import { mayLoop } from './settled-tabs.ts';

/** The interval of checks for progress: long enough to see some even on a heavily overloaded machine. */
const STEP_MS = 2_000;

type Progress = {
  budgetMs: number;
  /** How much the budget may be extended when the machine is slow, in ms. */
  lateMs: number;
  requests: Pick<PendingRequests, 'count' | 'ended'>;
  /** Whether the tabs make progress that the machine delays. */
  isLate: (tabs: OpenTab[]) => Promise<boolean>;
};

/**
 * Decides whether tabs that have not settled within their budget are waited for longer: by the progress they make, not
 * by the speed of the machine. A page that keeps navigating is waited for until it is certain that it is a loop, a
 * flood of requests until it has been served.
 */
export class SettleExtension {
  readonly #progress: Progress;
  #usedMs = 0;
  #ended = 0;
  #wasLate = false;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** For how many more ms; 0 = none. */
  async next(tabs: OpenTab[]): Promise<number> {
    const { budgetMs, lateMs, isLate } = this.#progress;
    const leftMs = budgetMs * (SETTLE_FACTOR_MAX - 1) - this.#usedMs;
    if (leftMs <= 0) return 0;
    if (tabs.some(mayLoop) || this.#reducesFlood()) return this.#use(Math.min(STEP_MS, leftMs));
    if (this.#wasLate || !(await isLate(tabs))) return 0;
    this.#wasLate = true;
    return this.#use(Math.min(lateMs, SETTLE_EXTENSION_MS, leftMs));
  }

  #reducesFlood(): boolean {
    const { requests } = this.#progress;
    const hasProgress = requests.ended > this.#ended;
    this.#ended = requests.ended;
    return hasProgress && requests.count() > FLOOD_REQUESTS;
  }

  #use(ms: number): number {
    this.#usedMs += ms;
    return ms;
  }
}
