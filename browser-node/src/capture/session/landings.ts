import type { Entry } from './journal-entry.ts';
import type { NetworkJournal } from './network-journal.ts';
import { isShown, type OpenTab, type OpenTabs } from './open-tabs.ts';
import type { Tab } from './tab.ts';

/** A landing: a tab with its ordinal. */
export type Landing = OpenTab & { ord: number };
/** A tab with its ordinal; null: it is no landing, because it shows the creative. */
export type NumberedTab = OpenTab & { ord: number | null };

/**
 * Which of a session's tabs are the landings of a member: those that a click opened, then those that opened by
 * themselves, each in the order in which they opened; of those that a click opened, the ones that stayed empty come
 * last. The tab that shows a creative is a landing only once it navigated away.
 */
export class Landings {
  readonly #tabs: Pick<OpenTabs, 'all'>;
  readonly #clicked = new Set<Tab>();
  /**
   * The tab that shows the creative in the document at `url`, the first of its hops that belongs to the creative, and
   * the first that belongs to a landing; null: none does.
   */
  #creative: { tab: Tab; url: string; firstHop: number; landingHop: number | null } | null = null;
  /** The tabs whose ordinals no longer change, by these. */
  #fixed: readonly Tab[] = [];

  constructor(tabs: Pick<OpenTabs, 'all'>) {
    this.#tabs = tabs;
  }

  /** The landings by ordinal. */
  get all(): Landing[] {
    const landings = this.#tabs.all.filter(({ tab }) => this.#landingHopOf(tab) !== null);
    const ordered = landings.toSorted((a, b) => this.#rankOf(a) - this.#rankOf(b));
    const numbered = [...new Set([...this.#fixed, ...ordered.map(({ tab }) => tab)])];
    return ordered.map((one) => ({ ...one, ord: numbered.indexOf(one.tab) })).sort((a, b) => a.ord - b.ord);
  }

  /**
   * Gives the landings their ordinals for good: what is recorded of a tab from now on must not count as another one's
   * because a further tab opened, or one closed. Tabs that come later follow.
   */
  fixOrdinals(): void {
    this.#fixed = this.all.map(({ tab }) => tab);
  }

  /** A helper window that an ad opens and leaves empty must not hide where the ad leads. */
  #rankOf({ tab }: OpenTab): number {
    if (!this.#clicked.has(tab)) return 2;
    return tab.isUnused ? 1 : 0;
  }

  /** All tabs that are kept, in the order in which they opened. */
  numbered(): NumberedTab[] {
    const landings = this.all;
    return this.#tabs.all.map((one) => ({ ...one, ord: landings.find(({ tab }) => tab === one.tab)?.ord ?? null }));
  }

  /** The landings that show a page of the target and can be inspected. */
  shown(): Landing[] {
    return this.all.filter(isShown);
  }

  /** The hops of a tab that belong to its landing; those before them showed the creative. */
  landingHops(journal: Pick<NetworkJournal, 'hopsOf'>, tab: Tab): Entry[] {
    const landingHop = this.#landingHopOf(tab);
    return landingHop === null ? [] : journal.hopsOf(tab.session.targetId).slice(landingHop);
  }

  /** The hops of a tab that showed the creative. */
  creativeHops(journal: Pick<NetworkJournal, 'hopsOf'>, tab: Tab): Entry[] {
    const firstHop = this.#creative?.tab === tab ? this.#creative.firstHop : 0;
    return journal.hopsOf(tab.session.targetId).slice(firstHop, this.#landingHopOf(tab) ?? undefined);
  }

  /** This tab shows the creative, in the document at `url`, from its hop `firstHop` on. */
  markAsCreative(tab: Tab, url: string, firstHop = 0): void {
    this.#creative = { tab, url, firstHop, landingHop: null };
  }

  /** Whether a tab shows the creative now, and no document that took its place. */
  showsCreative(tab: Tab): boolean {
    return this.#creative?.tab === tab && !tab.hasLeft(this.#creative.url);
  }

  /** From this hop on, the creative's tab shows a landing. */
  markAsLanding(landingHop: number): void {
    if (this.#creative) this.#creative.landingHop = landingHop;
  }

  /** A click of the capture opened this tab. */
  markAsClicked(tab: Tab): void {
    this.#clicked.add(tab);
  }

  isClicked(tab: Tab): boolean {
    return this.#clicked.has(tab);
  }

  #landingHopOf(tab: Tab): number | null {
    return this.#creative?.tab === tab ? this.#creative.landingHop : 0;
  }
}
