import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import type { BrowserContext, Page } from 'playwright-core';
import { COMMAND_MS, type DevTools } from '../devtools/devtools.ts';
import type { CaptureRequest } from './capture-outcome.ts';
import type { Ending } from './ending.ts';
import type { Tab } from './tab.ts';

/** A tab of the capture: `ord` 0 is the page's own, 1.. those that it opened by itself. */
export type Landing = { ord: number; page: Page; tab: Tab };

/** The tabs of a capture in the order in which they opened. */
export class Landings {
  readonly all: Landing[] = [];
  /** Tabs that opened, those that were closed at once included. */
  opened = 0;
  readonly #devtools: DevTools;
  readonly #tabs: Map<string, Tab>;
  readonly #ending: Ending;
  readonly #limits: CaptureRequest['limits'];
  #joining: Promise<unknown> = Promise.resolve();

  constructor(
    context: BrowserContext,
    devtools: DevTools,
    tabs: Map<string, Tab>,
    ending: Ending,
    limits: CaptureRequest['limits'],
  ) {
    this.#limits = limits;
    this.#devtools = devtools;
    this.#tabs = tabs;
    this.#ending = ending;
    context.on('page', (page) => this.#join(page));
  }

  /** The page's own tab, once it joined. Throws `DeadlineError` when it does not. */
  async first(): Promise<Landing> {
    await this.#joining;
    const [first] = this.all;
    if (!first) throw new DeadlineError('the first tab', COMMAND_MS);
    return first;
  }

  /** Those that show a page of their target's and can be looked at. */
  shown(): Landing[] {
    return this.all.filter(({ page, tab }) => !page.isClosed() && tab.committed && !tab.refused);
  }

  #join(page: Page): void {
    this.opened += 1;
    if (this.opened > this.#limits.landings) this.#turnAway(page);
    else this.#joining = Promise.all([this.#joining, this.#add(page)]);
  }

  async #add(page: Page): Promise<void> {
    if (this.opened === 1) page.on('crash', () => this.#ending.end('browser: CRASHED', 'the page crashed'));
    // A tab that is gone before it was attached has nothing to show.
    const session = await this.#devtools.sessionOf(page).catch(() => null);
    const tab = session && this.#tabs.get(session.targetId);
    if (!tab) return;
    this.all.push({ ord: 0, page, tab });
    // Playwright tells of a tab when it begins to show something, which is not always the order in which they opened.
    this.all.sort((a, b) => a.tab.openedAt - b.tab.openedAt);
    for (const [ord, landing] of this.all.entries()) landing.ord = ord;
  }

  #turnAway(page: Page): void {
    page.close().catch(() => undefined);
    if (this.opened !== this.#limits.tabs) return;
    for (const { tab } of this.all) void stopScript(tab);
  }
}

/** Ends the script that a tab runs and lets it run no more, so that the tab can be looked at. Works on a spinning page too. */
export async function stopScript(tab: Tab): Promise<void> {
  tab.disableScript();
  await tab.session.send('Runtime.terminateExecution', undefined, COMMAND_MS).catch(() => undefined);
}
