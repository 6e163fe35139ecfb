import { SCRIPT_NAVIGATIONS_MAX } from '@adsweep/shared/limits.ts';
import { FLOOD_REQUESTS, SETTLE_EXTENSION_MS, SETTLE_FACTOR_MAX } from './budgets.ts';
import type { OpenTab } from './landings.ts';
import type { NetworkJournal } from './network-journal.ts';

/** How often it is asked whether there is still progress. Long enough for some on a machine that is many times overbooked. */
const STEP_MS = 2_000;

type Progress = {
  budgetMs: number;
  /** How much the budget may grow where the machine is late, in ms. */
  lateMs: number;
  journal: Pick<NetworkJournal, 'underWay' | 'ended'>;
  /** Whether the tabs go on, but late, because of the machine. */
  isLate: () => Promise<boolean>;
};

/**
 * Whether tabs that are not at rest when their time is over are watched for longer: it depends on what they get done, not on how fast
 * the machine is. A page that leads on is watched until one is sure that it is a loop, a flood of requests while it is worked off.
 */
export class SettleExtension {
  readonly #progress: Progress;
  #usedMs = 0;
  #ended = 0;
  #wasLate = false;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** For how many ms more, 0 = no more. */
  async next(tabs: OpenTab[]): Promise<number> {
    const { budgetMs, lateMs, isLate } = this.#progress;
    const leftMs = budgetMs * (SETTLE_FACTOR_MAX - 1) - this.#usedMs;
    if (leftMs <= 0) return 0;
    if (tabs.some(leadsOn) || this.#reducesFlood()) return this.#use(Math.min(STEP_MS, leftMs));
    if (this.#wasLate || !(await isLate())) return 0;
    this.#wasLate = true;
    return this.#use(Math.min(lateMs, SETTLE_EXTENSION_MS, leftMs));
  }

  #reducesFlood(): boolean {
    const { journal } = this.#progress;
    const hasProgress = journal.ended > this.#ended;
    this.#ended = journal.ended;
    return hasProgress && journal.underWay() > FLOOD_REQUESTS;
  }

  #use(ms: number): number {
    this.#usedMs += ms;
    return ms;
  }
}

/** A tab that may be in a loop: it went on, each time at once, more often than any page that is not. */
export const leadsOn = ({ tab }: OpenTab): boolean => tab.promptNavigations > SCRIPT_NAVIGATIONS_MAX / 4;
