import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import type { Page } from 'playwright-core';
import { COMMAND_MS, type DevTools } from '../devtools/devtools.ts';
import type { CaptureRequest } from './capture-outcome.ts';
import type { ContextListeners } from './context-listeners.ts';
import type { Ending } from './ending.ts';
import type { Tab } from './tab.ts';

/** A tab of the capture. */
export type OpenTab = { page: Page; tab: Tab };
/** A tab that has an ordinal: which those are, and in which order, is for the kind of target to say. */
export type Landing = OpenTab & { ord: number };
/** A tab with its ordinal; null = it is no landing, as the one that shows a creative. */
export type PlacedTab = OpenTab & { ord: number | null };
/** The tabs among those of a capture, in the order in which they opened, that are landings, in the order of their ordinals. Pure. */
export type ChooseLandings = (tabs: readonly OpenTab[]) => readonly OpenTab[];

/** The tabs of a capture, and the landings among them. */
export class Landings {
  /** All tabs that are kept, in the order in which they opened. */
  readonly tabs: OpenTab[] = [];
  /** Tabs that opened, those that were closed at once included. */
  opened = 0;
  readonly #choose: ChooseLandings;
  readonly #devtools: DevTools;
  readonly #known: Map<string, Tab>;
  readonly #ending: Ending;
  readonly #limits: CaptureRequest['limits'];
  #refusesFurther = false;
  #refused: Page[] = [];
  #joining: Promise<unknown> = Promise.resolve();

  constructor(
    listeners: ContextListeners,
    devtools: DevTools,
    known: Map<string, Tab>,
    ending: Ending,
    limits: CaptureRequest['limits'],
    choose: ChooseLandings,
  ) {
    this.#choose = choose;
    this.#limits = limits;
    this.#devtools = devtools;
    this.#known = known;
    this.#ending = ending;
    listeners.on('page', (page) => this.#join(page));
  }

  /** Tabs that Chromium has opened so far. Playwright reports a tab, so that it joins, only after its first response. */
  get attached(): number {
    return this.#known.size;
  }

  /** The landings by ordinal. */
  get all(): Landing[] {
    return this.#choose(this.tabs).map(({ page, tab }, ord) => ({ ord, page, tab }));
  }

  /** All tabs that are kept, in the order in which they opened. */
  placed(): PlacedTab[] {
    const landings = this.all;
    return this.tabs.map((one) => ({ ...one, ord: landings.find(({ tab }) => tab === one.tab)?.ord ?? null }));
  }

  /** The first tab, once it joined. Throws `DeadlineError` when it does not. */
  async first(): Promise<OpenTab> {
    await this.#joining;
    const [first] = this.tabs;
    if (!first) throw new DeadlineError('the first tab', COMMAND_MS);
    return first;
  }

  /** Resolves when the tabs that have opened so far have joined. */
  async joined(): Promise<void> {
    await this.#joining;
  }

  /** From now on no tab that opens is a landing; they are closed by {@link closeRefused}. */
  refuseFurther(): void {
    this.#refusesFurther = true;
  }

  /** Closes the tabs that opened since {@link refuseFurther}. */
  closeRefused(): void {
    for (const page of this.#refused.splice(0)) page.close().catch(() => undefined);
  }

  /** The tabs that show a page of the target and can be inspected. */
  shown(): Landing[] {
    return this.all.filter(isShown);
  }

  #join(page: Page): void {
    this.opened += 1;
    if (this.#refusesFurther) this.#refused.push(page);
    else if (this.opened > this.#limits.landings) this.#refuse(page);
    else this.#joining = Promise.all([this.#joining, this.#add(page)]);
  }

  async #add(page: Page): Promise<void> {
    if (this.opened === 1) page.on('crash', () => this.#ending.end('browser: CRASHED', 'the page crashed'));
    // A tab that is gone before it was attached has nothing to show.
    const session = await this.#devtools.sessionOf(page).catch(() => null);
    const tab = session && this.#known.get(session.targetId);
    if (!tab) return;
    this.tabs.push({ page, tab });
    // Playwright tells of a tab when it begins to show something, which is not always the order in which they opened.
    this.tabs.sort((a, b) => a.tab.openedAt - b.tab.openedAt);
  }

  #refuse(page: Page): void {
    page.close().catch(() => undefined);
    if (this.opened !== this.#limits.tabs) return;
    for (const { tab } of this.tabs) void tab.stopScript();
  }
}

/** Whether a tab shows a page of the target and can be inspected. */
export const isShown = ({ page, tab }: OpenTab): boolean => !page.isClosed() && tab.committed && !tab.refused;

/**
 * The landings of an ad tag or VAST tag: the tabs that the click opened, then those that opened by themselves, each in the order in which
 * they opened. The creative's own tab is none, unless it was led elsewhere. Pure.
 */
export const creativeLandings: ChooseLandings = (tabs) =>
  tabs
    .filter(({ tab }) => tab.landingHop !== null)
    .toSorted((a, b) => Number(a.tab.openedBy === 'page') - Number(b.tab.openedBy === 'page'));
