import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import type { Page } from 'playwright-core';
import { COMMAND_MS, type DevTools, type TargetSession } from '../devtools/devtools.ts';
import type { CaptureRequest } from './capture-outcome.ts';
import type { ContextListeners } from './context-listeners.ts';
import type { Ending } from './ending.ts';
import type { Entry } from './journal-entry.ts';
import type { Tab } from './tab.ts';

/** A tab of the context, as Playwright and CDP know it. */
export type OpenTab = { page: Page; tab: Tab };

/** What a session observes of its context: all of it, or what an ad of a page does. */
export type SessionScope = {
  limits: CaptureRequest['limits'];
  /** Tabs that an earlier session opened and that stay open; absent: none. */
  kept?: readonly OpenTab[];
  /** Whether a tab that opened belongs to the session; the others are closed. Absent: all do. */
  admitsTab?: (session: TargetSession) => boolean;
  /** Whether a request belongs to the session; absent: all do. */
  admitsRequest?: (entry: Entry) => boolean;
};

/** How many of the tabs that are kept are the last that opened, while a target is visited. */
const LAST_TABS = 2;

/** The tabs that opened in a context, up to the limits of its job: the first ones, and the last. */
export class OpenTabs {
  /** All tabs that are kept, in the order in which they opened. */
  readonly all: OpenTab[] = [];
  /** Tabs that opened, including those that were closed at once. */
  opened = 0;
  /** How many of these were closed without being inspected: there were too many, or they did not answer in time. */
  uninspected = 0;
  readonly #devtools: DevTools;
  readonly #known: Map<string, Tab>;
  /** The tabs that Playwright has reported, and those of earlier sessions. */
  readonly #reported: Set<Tab>;
  readonly #ending: Ending;
  readonly #limits: SessionScope['limits'];
  readonly #kept: readonly OpenTab[];
  readonly #admits: (session: TargetSession) => boolean;
  #refusesFurther = false;
  /** Tabs that Chromium has opened since this session began. */
  #opening = 0;
  /** How many of the tabs that are kept are the last that opened. */
  #last = LAST_TABS;
  /** The target ids of tabs that do not count. */
  readonly #discarded = new Set<string>();
  #refused: Page[] = [];
  #joining: Promise<unknown> = Promise.resolve();

  /** `known`: the state of each tab by its target id. */
  constructor(
    listeners: ContextListeners,
    devtools: DevTools,
    known: Map<string, Tab>,
    ending: Ending,
    { limits, kept = [], admitsTab = () => true }: SessionScope,
  ) {
    this.#devtools = devtools;
    this.#known = known;
    this.#reported = new Set(known.values());
    this.#ending = ending;
    this.#limits = limits;
    this.#kept = kept;
    this.#admits = admitsTab;
    listeners.on('page', (page) => this.#join(page));
    devtools.onAttached(({ type, targetId }) => {
      if (type !== 'page') return;
      const tab = known.get(targetId);
      if (tab && this.#refusesFurther) tab.loadsNothingFromMs = 0;
      this.#limitOpening();
    });
  }

  /**
   * Tabs that Chromium has opened so far. Playwright reports a tab, so that it joins, only after its first response.
   */
  get attached(): number {
    return this.#known.size;
  }

  /**
   * Tabs that Chromium has opened since this session began, that are open and that Playwright has not reported: no
   * server has answered them.
   */
  unanswered(): Tab[] {
    const open = new Set(this.#devtools.sessions());
    return [...this.#known.values()].filter(
      (tab) =>
        open.has(tab.session) && !this.#reported.has(tab) && !this.#isDiscarded(tab) && this.#admits(tab.session),
    );
  }

  /** The tab of a page, once it joined. Throws `DeadlineError` if it does not. */
  async of(page: Page): Promise<OpenTab> {
    await this.#joining;
    const tab = this.all.find((one) => one.page === page);
    if (!tab) throw new DeadlineError('a new tab', COMMAND_MS);
    return tab;
  }

  /** The state of a tab by its target id, from the moment in which Chromium opened it; undefined: it is no tab. */
  stateOf(targetId: string): Tab | undefined {
    return this.#known.get(targetId);
  }

  /** The tab of a page, also of one that an earlier session opened; undefined: it has not joined. */
  known(page: Page): OpenTab | undefined {
    return this.withKept().find((one) => one.page === page);
  }

  /** The tabs of this session and those that an earlier one opened and that stay open. */
  withKept(): OpenTab[] {
    return [...this.all, ...this.#kept];
  }

  /** Adds a tab that an earlier session opened to those of this one. */
  adopt(tab: OpenTab): void {
    if (!this.all.includes(tab)) this.all.push(tab);
  }

  /** Resolves when the tabs that have opened so far have joined. */
  async joined(): Promise<void> {
    await this.#joining;
  }

  /** Closes a tab as if it had never opened, once Playwright has reported it. */
  discard(targetId: string): void {
    this.#discarded.add(targetId);
    const isDiscarded = ({ tab }: OpenTab) => this.#isDiscarded(tab);
    for (const { page } of this.all.filter(isDiscarded)) page.close().catch(() => undefined);
    this.all.splice(0, this.all.length, ...this.all.filter((one) => !isDiscarded(one)));
  }

  /** From now on no tab that is kept is closed for one that opens later. */
  keepPresent(): void {
    this.#last = 0;
  }

  /**
   * From now on tabs that open are not kept, and their page loads, which are stopped, not recorded;
   * {@link closeRefused} closes them.
   */
  refuseFurther(): void {
    this.#refusesFurther = true;
  }

  /** Closes the tabs that opened since {@link refuseFurther}. */
  closeRefused(): void {
    for (const page of this.#refused.splice(0)) page.close().catch(() => undefined);
  }

  #join(page: Page): void {
    this.opened += 1;
    if (this.#refusesFurther) this.#refused.push(page);
    else if (this.opened >= this.#limits.tabs) this.#drop(page);
    else this.#joining = Promise.all([this.#joining, this.#add(page)]);
  }

  async #add(page: Page): Promise<void> {
    // Of a target, the first tab is the one that it is shown in.
    if (this.opened === 1 && this.#kept.length === 0)
      page.on('crash', () => this.#ending.end('browser: CRASHED', 'the page crashed'));
    const session = await this.#devtools.sessionOf(page).catch((error: unknown) => {
      // A tab that closed before it was attached has nothing to show.
      if (error instanceof DeadlineError && !page.isClosed()) this.#drop(page);
      return null;
    });
    const tab = session && this.#known.get(session.targetId);
    if (!tab) return;
    this.#reported.add(tab);
    if (!this.#admits(session) || this.#isDiscarded(tab)) {
      page.close().catch(() => undefined);
      return;
    }
    this.all.push({ page, tab });
    // Playwright reports a tab when it begins to show something, which is not always the order in which they opened.
    this.all.sort((a, b) => a.tab.openedAt - b.tab.openedAt);
    this.#limit();
  }

  /**
   * Closes the tabs between the first and the last ones. A flood of harmless windows must not hide the one that comes
   * after it.
   */
  #limit(): void {
    const { landings } = this.#limits;
    const last = Math.min(this.#last, landings - 1);
    while (this.all.length > landings) for (const { page } of this.all.splice(landings - last, 1)) this.#drop(page);
  }

  #isDiscarded({ session }: Tab): boolean {
    return this.#discarded.has(session.targetId);
  }

  #drop(page: Page): void {
    this.uninspected += 1;
    page.close().catch(() => undefined);
  }

  /** Stops the scripts of what opens too many tabs, whether Playwright reports these or their server never answers. */
  #limitOpening(): void {
    this.#opening += 1;
    if (this.#opening !== this.#limits.tabs) return;
    for (const { tab } of this.withKept()) void tab.stopScript();
  }
}

/** Whether a tab shows a page of the target and can be inspected. */
export const isShown = ({ page, tab }: OpenTab): boolean => !page.isClosed() && tab.committed && !tab.refused;
