import { note } from '@adsweep/shared/capture/notes.ts';
import { rootOf } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import {
  ANSWER_MS,
  DWELL_MS,
  LATE_MS,
  LONG_REQUEST_MS,
  QUIET_MS,
  SETTLE_CHECK_MS,
  SETTLE_MS,
  underLoad,
} from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import type { OpenTab } from './open-tabs.ts';
import { SettleExtension } from './settle-extension.ts';
import { isLoop, isToBeLookedAt, mayBeAnswered, mayLoop, pendingIn, settledIn, type Waiting } from './settled-tabs.ts';
import { lookAsVisitor } from './visitor-look.ts';

/** Time for a loop that was stopped to show its last document. */
const STOPPED_LOOP_MS = 3_000;
/** A renderer that runs its timers within this time is not slowed down by the machine. */
const PROMPT_MS = 100;
/** How often tabs that look settled are asked whether their due timers have run. */
const TIMER_CHECKS_MAX = 3;

/**
 * Waits until the tabs have settled: each has loaded, was looked at as a visitor does and was watched for a while, no
 * request is pending, no window waits for its first response, no refresh is announced, due timers have run, and scripts
 * wait for nothing that comes soon. Waits at most `budgetMs`, then the capture gets a note; longer only while there is
 * useful progress. Ends at once when the capture does, or when a page floods it with frames and workers. Resolves to
 * the tabs that navigated in a loop and were stopped.
 */
export async function settle(session: CaptureSession, budgetMs = SETTLE_MS): Promise<readonly OpenTab[]> {
  const wait = new SettleWait(session, budgetMs);
  while (!session.ending.failure && !session.devtools.isFlooded) {
    const tabs = session.tabs.all.filter(({ page }) => !page.isClosed());
    if (tabs.length === 0) break;
    if (!wait.hasLoops && tabs.some(isLoop)) wait.stopLoops(tabs);
    for (const tab of tabs) if (isToBeLookedAt(tab, performance.now())) void look(session, tab);
    const restMs = wait.restMs(tabs);
    const leftMs = wait.leftMs();
    if (restMs <= 0) {
      if (await wait.timersHaveRun(tabs)) break;
    } else if (leftMs > 0) await pause(session, Math.max(Math.min(restMs, leftMs), SETTLE_CHECK_MS));
    else if (!(await wait.extend(tabs))) break;
  }
  return wait.loops;
}

/** How long tabs are waited for. Loops that were stopped have no timers, and scripts that wait for nothing. */
class SettleWait {
  /** Tabs that navigated in a loop and were stopped. */
  loops: readonly OpenTab[] = [];
  readonly #session: CaptureSession;
  readonly #extension: SettleExtension;
  readonly #startedAt = performance.now();
  #until: number;
  /** Timers that run late navigate late: the tabs have not settled before this time. */
  #lateUntil = 0;
  #timerChecks = 0;

  constructor(session: CaptureSession, budgetMs: number) {
    this.#session = session;
    this.#until = this.#startedAt + budgetMs;
    const lateMs = underLoad(session, budgetMs) - budgetMs;
    const isLate = (tabs: OpenTab[]) => isDelayedByMachine(session, tabs);
    this.#extension = new SettleExtension({ budgetMs, lateMs, requests: session.pendingRequests, isLate });
  }

  get hasLoops(): boolean {
    return this.loops.length > 0;
  }

  leftMs(): number {
    return this.#until - performance.now();
  }

  /** The earliest time, in ms from now, at which the tabs can have settled; 0 or less: they look settled. */
  restMs(tabs: OpenTab[]): number {
    const now = performance.now();
    const restMs = Math.max(this.#settledIn(tabs, now), this.#lateUntil - now);
    if (this.hasLoops) return restMs;
    // What scripts wait for is not waited for beyond the budget, and is no reason to extend it.
    return Math.max(restMs, Math.min(pendingIn(tabs, waitingIn(this.#session, tabs), now), this.leftMs()));
  }

  /** Whether tabs that look settled have run their due timers and still look settled. */
  async timersHaveRun(tabs: OpenTab[]): Promise<boolean> {
    if (this.hasLoops || this.#timerChecks >= TIMER_CHECKS_MAX) return true;
    this.#timerChecks += 1;
    await findWrittenTabs(tabs);
    const lateMs = await runDueTimers(this.#session, tabs);
    const now = performance.now();
    if (lateMs > PROMPT_MS) this.#lateUntil = now + Math.min(lateMs, DWELL_MS);
    return lateMs <= PROMPT_MS && !tabs.some((tab) => isToBeLookedAt(tab, now)) && this.#settledIn(tabs, now) <= 0;
  }

  /** The same as {@link settledIn}, with the windows that wait for their first response. */
  #settledIn(tabs: OpenTab[], now: number): number {
    const isOpening = this.#session.tabs.unanswered().some((tab) => mayBeAnswered(tab, now));
    return Math.max(settledIn(tabs, this.#session.pendingRequests, now), isOpening ? QUIET_MS : 0);
  }

  /** Extends the wait if that is useful; otherwise notes that the tabs did not settle. Whether to go on waiting. */
  async extend(tabs: OpenTab[]): Promise<boolean> {
    if (this.hasLoops) return false;
    const afterSeconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    const moreMs = await this.#extension.next(tabs);
    this.#until = performance.now() + moreMs;
    if (moreMs > 0) return true;
    this.#session.notes.push(note('unsettled', { count: afterSeconds }));
    const mayBeStopped = tabs.some(mayLoop);
    if (mayBeStopped) this.stopLoops(tabs);
    return mayBeStopped;
  }

  /**
   * Disables scripts in the tabs' next documents, so that they settle when these have loaded, and screenshots can be
   * taken.
   */
  stopLoops(tabs: OpenTab[]): void {
    for (const { tab } of tabs) tab.disableScript();
    this.loops = this.#session.tabs.all.filter((one) => isLoop(one) || mayLoop(one));
    this.#until = performance.now() + STOPPED_LOOP_MS;
  }
}

function waitingIn({ pendingRequests, devtools }: CaptureSession, tabs: OpenTab[]): Waiting {
  const workers = [...devtools.sessions()].filter(({ type }) => type === 'worker' || type === 'shared_worker');
  // Chromium does not report which tab started a shared worker.
  const hasWorker = ({ tab }: OpenTab) =>
    workers.some(
      (worker) => rootOf(worker) === tab.session || (rootOf(worker).type !== 'page' && tab === tabs[0]?.tab),
    );
  const { awaitsCode } = pendingRequests;
  return { hasWorker, isUnanswered: pendingRequests.unanswered(LATE_MS) > 0, awaitsCode };
}

async function look(session: CaptureSession, one: OpenTab): Promise<void> {
  const { tab } = one;
  tab.wasLookedAt = true;
  tab.isLookedAt = true;
  tab.looks += 1;
  await lookAsVisitor(session, one);
  tab.isLookedAt = false;
}

/**
 * Finds the empty tabs into which another document inserted something: they show a page like those that navigated to
 * one.
 */
async function findWrittenTabs(tabs: OpenTab[]): Promise<void> {
  const empty = tabs.filter(({ page, tab }) => !tab.committed && !tab.refused && !page.isClosed());
  const find = async ({ tab }: OpenTab) => {
    const { session } = tab;
    // A tab that does not answer stays as it is.
    const url = await evaluateInIsolatedWorld(session, session.targetId, readWritten, null, ANSWER_MS).catch(() => '');
    if (url !== '') tab.wasWritten(url);
  };
  await Promise.all(empty.map(find));
}

/** Runs in the page, in an isolated world: the URL of its document, '' = the document is empty. */
function readWritten(): string {
  // Elements of the page shadow properties of its document.
  const of = (owner: { prototype: object }, name: string, self: object) => Reflect.get(owner.prototype, name, self);
  const body: HTMLElement | null = of(Document, 'body', document);
  const isWritten = body && (of(Element, 'childElementCount', body) > 0 || of(Node, 'textContent', body).trim() !== '');
  return isWritten ? of(Document, 'URL', document) : '';
}

/**
 * Whether the tabs make progress that the machine delays, and not only the page. An endless response is no progress.
 */
async function isDelayedByMachine(session: CaptureSession, tabs: OpenTab[]): Promise<boolean> {
  const { pendingRequests: requests } = session;
  const goesOn = requests.count(LONG_REQUEST_MS) > 0 || performance.now() - requests.lastActivityAt < LONG_REQUEST_MS;
  return goesOn && (await runDueTimers(session, tabs)) > PROMPT_MS;
}

/**
 * How long the slowest tab took to run its due timers, in ms; a tab that closed, navigated or was stopped does not
 * count.
 */
async function runDueTimers(session: CaptureSession, tabs: OpenTab[]): Promise<number> {
  const since = performance.now();
  const running = tabs
    .filter(({ tab }) => tab.committed && !tab.refused && !tab.isScriptDisabled)
    .map(({ tab: { session: target } }) =>
      evaluateInIsolatedWorld(target, target.targetId, awaitTimers, null, ANSWER_MS).catch(() => undefined),
    );
  await session.ending.race(Promise.all(running));
  return performance.now() - since;
}

/** Runs in the page, in an isolated world: resolves when the page's due timers have run. */
function awaitTimers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Resolves after `ms`, or as soon as the capture ends. */
function pause({ ending }: CaptureSession, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void ending.came.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
