import { SCRIPT_NAVIGATIONS_MAX } from '@adsweep/shared/limits.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import {
  ANNOUNCED_REFRESH_MAX_MS,
  ANSWER_MS,
  DWELL_MS,
  FLOOD_REQUESTS,
  LONG_REQUEST_MS,
  QUIET_MS,
  SETTLE_EXTENSION_MS,
  SETTLE_FACTOR_MAX,
  SETTLE_MS,
  underLoad,
} from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import type { OpenTab } from './landings.ts';
import type { NetworkJournal } from './network-journal.ts';

const CHECK_AT_LEAST_MS = 50;
/** Time for a loop that was stopped to show its last document. */
const LOOP_REST_MS = 3_000;
/** A renderer that answers within this time is not slowed down by the machine. */
const PROMPT_MS = 100;
/** How often tabs at rest are asked whether their due timers have run. */
const ASKED_MAX = 3;

/** `loop`: the page's own tab navigated on and on, and was stopped. */
export type Rest = 'settled' | 'loop';

/**
 * Waits until the tabs have come to rest: each has loaded and been watched for a while, no request is pending, no refresh is announced, and
 * due timers have run. Waits at most for the budget, in which case a note says so; longer only while there is useful progress. A page that
 * never stops navigating ends the capture; one that floods it with frames and workers ends the wait.
 */
export async function settle(captureSession: CaptureSession, budgetMs = SETTLE_MS): Promise<Rest> {
  const { journal } = captureSession;
  let tabs: OpenTab[] = [];
  const extension = new SettleExtension({
    budgetMs,
    lateMs: underLoad(captureSession, budgetMs) - budgetMs,
    journal,
    isLate: () => isLate(captureSession, tabs),
  });
  const startedAt = performance.now();
  let until = startedAt + budgetMs;
  let rest: Rest | null = null;
  let lateUntil = 0;
  let asked = 0;
  while (!captureSession.ending.failure) {
    const now = performance.now();
    tabs = captureSession.landings.tabs.filter(({ page }) => !page.isClosed());
    if (captureSession.devtools.isFlooded) break;
    if (rest === null && tabs.some(leadsOnForever)) {
      rest = stopLoops(captureSession, tabs);
      until = now + LOOP_REST_MS;
    }
    const restMs = Math.max(restIn(tabs, journal, now), lateUntil - now);
    if (tabs.length === 0 || (restMs <= 0 && (rest !== null || asked >= ASKED_MAX))) break;
    if (restMs <= 0) {
      asked += 1;
      const lateMs = await timersRun(captureSession, tabs);
      // If a page runs late, its timers navigate later by as much.
      if (lateMs > PROMPT_MS) lateUntil = performance.now() + Math.min(lateMs, DWELL_MS);
      else if (restIn(tabs, journal, performance.now()) <= 0) break;
    } else if (now < until) await pause(captureSession, Math.max(Math.min(restMs, until - now), CHECK_AT_LEAST_MS));
    else if (rest !== null) break;
    else {
      const moreMs = await extension.next(tabs);
      until = performance.now() + (moreMs || LOOP_REST_MS);
      if (moreMs > 0) continue;
      const afterSeconds = Math.round((now - startedAt) / 1_000);
      captureSession.notes.push({ collector: 'settle', text: `not at rest after ${afterSeconds} s` });
      if (!tabs.some(leadsOn)) break;
      rest = stopLoops(captureSession, tabs);
    }
  }
  return rest ?? 'settled';
}

/** Whether the tabs make progress that is delayed by the machine and not only by the page. An endless response is no progress. */
async function isLate(captureSession: CaptureSession, tabs: OpenTab[]): Promise<boolean> {
  const { journal } = captureSession;
  const goesOn = journal.underWay(LONG_REQUEST_MS) > 0 || performance.now() - journal.lastActivityAt < LONG_REQUEST_MS;
  return goesOn && (await timersRun(captureSession, tabs)) > PROMPT_MS;
}

/** How long the slowest tab took to run its due timers, in ms; a tab that is gone, has navigated or was stopped does not count. */
async function timersRun(captureSession: CaptureSession, tabs: OpenTab[]): Promise<number> {
  const since = performance.now();
  const asking = tabs
    .filter(({ tab }) => tab.committed && !tab.refused && !tab.isScriptDisabled)
    .map(({ tab: { session } }) =>
      evaluateInIsolatedWorld(session, session.targetId, runTimers, null, ANSWER_MS).catch(() => undefined),
    );
  await captureSession.ending.race(Promise.all(asking));
  return performance.now() - since;
}

/** The earliest time, in ms from now, at which the tabs can be at rest; 0 = they are. Pure. */
export function restIn(tabs: OpenTab[], journal: NetworkJournal, now: number): number {
  const quietIn = journal.underWay(LONG_REQUEST_MS) > 0 ? QUIET_MS : journal.lastActivityAt + QUIET_MS - now;
  return Math.max(0, quietIn, ...tabs.map(({ tab }) => tabRestsIn(tab, now)));
}

function tabRestsIn({ loadedAt, lastHopAt, refreshDueAt, refused }: OpenTab['tab'], now: number): number {
  if (refused) return 0;
  if (loadedAt === null) return QUIET_MS;
  const dwelledIn = Math.max(loadedAt, lastHopAt) + DWELL_MS - now;
  const isAnnounced = refreshDueAt > now - DWELL_MS && refreshDueAt < now + ANNOUNCED_REFRESH_MAX_MS;
  return Math.max(dwelledIn, isAnnounced ? refreshDueAt + DWELL_MS - now : 0);
}

const leadsOnForever = ({ tab }: OpenTab): boolean => tab.ownNavigations > SCRIPT_NAVIGATIONS_MAX;

/** Disables scripts in the tabs' next documents, so that they come to rest when they have loaded, and screenshots can be taken. */
function stopLoops(captureSession: CaptureSession, tabs: OpenTab[]): Rest {
  for (const { tab } of tabs) tab.disableScript();
  const subject = captureSession.subject();
  return subject && (leadsOnForever(subject) || leadsOn(subject)) ? 'loop' : 'settled';
}

function pause(captureSession: CaptureSession, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void captureSession.ending.came.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The interval of checks for progress: long enough to see some even on a heavily overloaded machine. */
const STEP_MS = 2_000;

type Progress = {
  budgetMs: number;
  /** How much the budget may be extended when the machine is slow, in ms. */
  lateMs: number;
  journal: Pick<NetworkJournal, 'underWay' | 'ended'>;
  /** Whether the tabs make progress that is delayed by the machine. */
  isLate: () => Promise<boolean>;
};

/**
 * Decides whether tabs that are not at rest when their budget is used up are watched for longer: by the progress they make, not by the speed
 * of the machine. A page that keeps navigating is watched until it is certain that it is a loop, a flood of requests until it has been served.
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

/** A tab that may be in a loop: it has navigated immediately more often than any page that is not in one. */
export const leadsOn = ({ tab }: OpenTab): boolean => tab.promptNavigations > SCRIPT_NAVIGATIONS_MAX / 4;

/** Runs in the page, in a world of its own: resolves when the page's timers that are due have run. */
export function runTimers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
