import type { AdSignal } from '@adsweep/shared/capture/ad-block.ts';
import { sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Entry } from '../session/journal-entry.ts';
import { isShown, type OpenTab } from '../session/open-tabs.ts';
import { type Network, NO_NETWORK, networkOf } from './ad-servers.ts';

/**
 * A window that a page opened without a click, or where its own tab went; `sinceMs`: the Unix time of its first
 * request.
 */
export type FoundPop = Network & { tab: OpenTab; signal: AdSignal; sinceMs: number };

/**
 * The pops of a page, in the order in which they opened, and the tab that shows the page: the one it was loaded in, or
 * the window that it opened for itself when it sent that one elsewhere; null: none shows it any more.
 */
export function findPops(capture: MemberCapture, tab: OpenTab): { pops: FoundPop[]; pageTab: OpenTab | null } {
  const { journal, landings, tabs } = capture;
  const hops = journal.hopsOf(tab.tab.session.targetId);
  const publisher = publisherOf(hops);
  const others = new Set(
    tabs.all.map((one) => one.tab.session.targetId).filter((id) => id !== tab.tab.session.targetId),
  );
  // The opener is a frame of the page, if that has a process of its own.
  const isOpened = ({ tab: { session } }: OpenTab) => session.openerId !== '' && !others.has(session.openerId);
  const opened = tabs.all.filter((one) => one !== tab && isOpened(one) && isShown(one) && !landings.isClicked(one.tab));
  const own = opened.find((one) => sameSite(one.tab.url, publisher));
  const away = leftFor(hops, publisher, tab, own !== undefined);
  const pops = opened.flatMap((one): FoundPop[] => {
    const windowHops = journal.hopsOf(one.tab.session.targetId);
    const network = networkOfHops(windowHops, publisher);
    // The window that shows the page in place of its own tab is no ad, and neither is one that leads to the publisher.
    if ((one === own && away.length > 0) || (sameSite(one.tab.url, publisher) && network.network === '')) return [];
    return [{ ...network, tab: one, signal: 'opened_window', sinceMs: openedAtMs(capture, one, windowHops) }];
  });
  if (away.length === 0) return { pops, pageTab: tab };
  const [first] = away;
  const under = {
    ...networkOfHops(away, publisher),
    tab,
    signal: 'tab_under',
    sinceMs: first?.timestampMs ?? 0,
  } as const;
  return { pops: [...pops, under].sort((a, b) => a.sinceMs - b.sinceMs), pageTab: own ?? null };
}

const openedAtMs = ({ startedAt, startedAtMs }: MemberCapture, { tab }: OpenTab, [first]: Entry[]): number =>
  Math.min(first?.timestampMs ?? Number.POSITIVE_INFINITY, startedAtMs + tab.openedAt - startedAt);

/** The address of the page that was asked for, behind its HTTP redirects; '' = nothing was requested. */
function publisherOf(hops: readonly Entry[]): string {
  const next = hops.findIndex(({ hop }, index) => index > 0 && hop !== 'http');
  return (next < 0 ? hops.at(-1) : hops[next - 1])?.url ?? '';
}

/**
 * The hops by which a tab left the publisher's page for another site by itself; none: it did not. What a document does
 * before it has loaded is a redirect, unless it has opened a window for itself before.
 */
function leftFor(hops: readonly Entry[], publisher: string, { tab }: OpenTab, hasOwnWindow: boolean): Entry[] {
  const isLate = tab.ownNavigations > tab.promptNavigations;
  if (!(isLate || hasOwnWindow) || tab.url === '' || sameSite(tab.url, publisher)) return [];
  const last = hops.findLastIndex(({ url }) => sameSite(url, publisher));
  return hops.slice(last + 1);
}

/**
 * The network that opened a window, by the scripts that did and the way that it took; its host is known, and not shown
 * for a pop.
 */
function networkOfHops(hops: readonly Entry[], publisher: string): Network {
  const [first] = hops;
  const scripts = first ? [...first.initiatorScripts.toReversed(), first.initiatorUrl] : [];
  const found = networkOf([...scripts, ...hops.map(({ url }) => url)], publisher);
  return found.network === '' ? NO_NETWORK : found;
}
