import { SCRIPT_NAVIGATIONS_MAX } from '@adsweep/shared/limits.ts';
import {
  ANNOUNCED_REFRESH_MAX_MS,
  DWELL_MS,
  FIRST_ANSWER_MS,
  LATE_MS,
  LONG_REQUEST_MS,
  LOOKS_MAX,
  QUIET_MS,
  SETTLE_CHECK_MS,
  SHOWN_AT_LATEST_MS,
} from './budgets.ts';
import type { OpenTab } from './open-tabs.ts';
import type { PendingRequests } from './pending-requests.ts';
import type { Tab } from './tab.ts';

/** Time for a due timer to run, and for the page to act on it. */
const TIMER_MS = 100;

/**
 * What a page requests: when it did last, how many requests are pending, and whether one of a document, script or style
 * sheet is.
 */
type Requests = Pick<PendingRequests, 'count' | 'lastActivityAt' | 'lastLoadingAt' | 'awaitsCode'>;

/**
 * When the document of a tab had loaded. While nothing but pictures and data is pending, it counts as loaded once it is
 * parsed and has shown something for {@link SHOWN_AT_LATEST_MS}: for a visitor it is all there, and a picture may never
 * arrive. Null: neither is known yet. Pure.
 */
function loadedAtOf({ loadedAt, parsedAt, paintedAt }: Tab, awaitsCode: boolean): number | null {
  if (loadedAt !== null || awaitsCode || parsedAt === null || paintedAt === null) return loadedAt;
  return Math.max(parsedAt, paintedAt + SHOWN_AT_LATEST_MS);
}

/**
 * The earliest time, in ms from `now`, at which tabs can have loaded, have been watched for a while, have no announced
 * refresh and no pending request; 0: it is so now. {@link LATE_MS} after the load, requests that are polling do not
 * count: they go on for as long as the page is open. Pure.
 */
export function settledIn(tabs: OpenTab[], requests: Requests, now: number): number {
  const { awaitsCode } = requests;
  const countsPolls = tabs.some(({ tab }) => !tab.refused && (loadedAtOf(tab, awaitsCode) ?? now) + LATE_MS > now);
  const lastAt = countsPolls ? requests.lastActivityAt : requests.lastLoadingAt;
  const quietIn = requests.count(LONG_REQUEST_MS, countsPolls) > 0 ? QUIET_MS : lastAt + QUIET_MS - now;
  return Math.max(0, quietIn, ...tabs.map(({ tab }) => tabSettledIn(tab, awaitsCode, now)));
}

function tabSettledIn(tab: Tab, awaitsCode: boolean, now: number): number {
  const { lastHopAt, refreshDueAt, refused } = tab;
  if (refused) return 0;
  const loadedAt = loadedAtOf(tab, awaitsCode);
  if (loadedAt === null) return QUIET_MS;
  const dwelledIn = Math.max(loadedAt, lastHopAt) + DWELL_MS - now;
  const isAnnounced = refreshDueAt > now - DWELL_MS && refreshDueAt < now + ANNOUNCED_REFRESH_MAX_MS;
  return Math.max(dwelledIn, isAnnounced ? refreshDueAt + DWELL_MS - now : 0);
}

/** Whether a tab that shows nothing yet may do so soon: its server was asked, and may take its time. Pure. */
export const mayBeAnswered = ({ hops, lastHopAt }: Tab, now: number): boolean =>
  hops > 0 && lastHopAt + FIRST_ANSWER_MS > now;

/** What scripts of the tabs may act on later. */
export type Waiting = { hasWorker(tab: OpenTab): boolean; isUnanswered: boolean; awaitsCode: boolean };

/**
 * The time, in ms from `now`, until which scripts of the tabs wait for something; at most {@link LATE_MS} after the
 * load. Pure.
 */
export function pendingIn(tabs: OpenTab[], { hasWorker, isUnanswered, awaitsCode }: Waiting, now: number): number {
  const inTab = (one: OpenTab): number => {
    const { timersDueAt, refused, isScriptDisabled, isLookedAt } = one.tab;
    const loadedAt = loadedAtOf(one.tab, awaitsCode);
    if (refused || isScriptDisabled || loadedAt === null) return 0;
    const leftMs = loadedAt + LATE_MS - now;
    const looking = isLookedAt ? SETTLE_CHECK_MS : 0;
    const timers = timersDueAt > now - TIMER_MS ? timersDueAt + TIMER_MS - now : 0;
    const requests = isUnanswered ? QUIET_MS : 0;
    return Math.min(leftMs, hasWorker(one) ? leftMs : Math.max(looking, timers, requests));
  };
  return Math.max(0, ...tabs.map(inTab));
}

/**
 * Whether a tab shows a document that a visitor would look at, and was not looked at yet, loaded or not. Of a tab that
 * showed several before, one that stays: it may be the end of a chain of redirects. Pure.
 */
export function isToBeLookedAt({ tab }: OpenTab, now: number): boolean {
  if (!tab.committed || tab.refused || tab.isScriptDisabled || tab.isLookedAt || tab.wasLookedAt) return false;
  const shownAt =
    tab.loadedAt ?? (tab.paintedAt === null ? Number.POSITIVE_INFINITY : tab.paintedAt + SHOWN_AT_LATEST_MS);
  return shownAt + (tab.looks < LOOKS_MAX ? 0 : DWELL_MS) <= now;
}

/** A tab that certainly navigates in a loop. */
export const isLoop = ({ tab }: OpenTab): boolean => tab.ownNavigations > SCRIPT_NAVIGATIONS_MAX;

/** A tab that may be in a loop: it has navigated promptly more often than any page that is not in one. */
export const mayLoop = ({ tab }: OpenTab): boolean => tab.promptNavigations > SCRIPT_NAVIGATIONS_MAX / 4;
