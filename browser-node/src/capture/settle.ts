import { SCRIPT_NAVIGATIONS_MAX } from '@adsweep/shared/limits.ts';
import { ANNOUNCED_REFRESH_MAX_MS, DWELL_MS, LONG_REQUEST_MS, QUIET_MS, SETTLE_MS } from './budgets.ts';
import { type Landing, stopScript } from './landings.ts';
import type { NetworkJournal } from './network-journal.ts';
import type { Stage } from './stage.ts';

const CHECK_AT_LEAST_MS = 50;

/** `loop`: the page's own tab led on and on, and was stopped. */
export type Rest = 'settled' | 'loop';

/**
 * Waits until the tabs have come to rest: each loaded and watched for a while, nothing asked for, no refresh announced; at most the
 * budget. A page that never stops leading on ends the capture.
 */
export async function settle(stage: Stage, budgetMs = SETTLE_MS): Promise<Rest> {
  const until = performance.now() + budgetMs;
  while (!stage.ending.failure) {
    const now = performance.now();
    const tabs = stage.landings.all.filter((landing) => !landing.page.isClosed());
    if (tabs.some(leadsOnForever)) return endLoop(tabs);
    const waitMs = Math.min(restIn(tabs, stage.journal, now), until - now);
    if (waitMs <= 0 || tabs.length === 0) break;
    await pause(stage, Math.max(waitMs, CHECK_AT_LEAST_MS));
  }
  return 'settled';
}

/** In how many ms the tabs can be at rest at the earliest, 0 = they are. Pure. */
export function restIn(tabs: Landing[], journal: NetworkJournal, now: number): number {
  const quietIn = journal.underWay(LONG_REQUEST_MS) > 0 ? QUIET_MS : journal.lastActivityAt + QUIET_MS - now;
  return Math.max(0, quietIn, ...tabs.map(({ tab }) => tabRestsIn(tab, now)));
}

function tabRestsIn({ loadedAt, lastHopAt, refreshDueAt, refused }: Landing['tab'], now: number): number {
  if (refused) return 0;
  if (loadedAt === null) return QUIET_MS;
  const dwelledIn = Math.max(loadedAt, lastHopAt) + DWELL_MS - now;
  const isAnnounced = refreshDueAt > now - DWELL_MS && refreshDueAt < now + ANNOUNCED_REFRESH_MAX_MS;
  return Math.max(dwelledIn, isAnnounced ? refreshDueAt + DWELL_MS - now : 0);
}

const leadsOnForever = ({ tab }: Landing): boolean => tab.ownNavigations > SCRIPT_NAVIGATIONS_MAX;

async function endLoop(tabs: Landing[]): Promise<Rest> {
  await Promise.all(tabs.map(({ tab }) => stopScript(tab.session)));
  for (const { tab } of tabs) tab.session.tell('Page.stopLoading');
  return tabs.some((landing) => landing.ord === 0 && leadsOnForever(landing)) ? 'loop' : 'settled';
}

function pause(stage: Stage, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void stage.ending.came.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
