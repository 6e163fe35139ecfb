import { SCRIPT_NAVIGATIONS_MAX } from '@adsweep/shared/limits.ts';
import { ANNOUNCED_REFRESH_MAX_MS, DWELL_MS, LONG_REQUEST_MS, QUIET_MS, SETTLE_MS } from './budgets.ts';
import type { Landing } from './landings.ts';
import type { NetworkJournal } from './network-journal.ts';
import type { Stage } from './stage.ts';

const CHECK_AT_LEAST_MS = 50;
/** Time for a loop that was stopped to show its last document. */
const LOOP_REST_MS = 3_000;

/** `loop`: the page's own tab led on and on, and was stopped. */
export type Rest = 'settled' | 'loop';

/**
 * Waits until the tabs have come to rest: each loaded and watched for a while, nothing asked for, no refresh announced; at most the
 * budget. A page that never stops leading on ends the capture.
 */
export async function settle(stage: Stage, budgetMs = SETTLE_MS): Promise<Rest> {
  let until = performance.now() + budgetMs;
  let rest: Rest | null = null;
  while (!stage.ending.failure) {
    const now = performance.now();
    const tabs = stage.landings.all.filter((landing) => !landing.page.isClosed());
    if (rest === null && tabs.some(leadsOnForever)) {
      rest = stopLoops(tabs);
      until = now + LOOP_REST_MS;
    }
    const waitMs = Math.min(restIn(tabs, stage.journal, now), until - now);
    if (waitMs <= 0 || tabs.length === 0) break;
    await pause(stage, Math.max(waitMs, CHECK_AT_LEAST_MS));
  }
  return rest ?? 'settled';
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

/** Lets no script run in the tabs' next documents: they come to rest as they load, and can be pictured. */
function stopLoops(tabs: Landing[]): Rest {
  for (const { tab } of tabs) tab.session.tell('Emulation.setScriptExecutionDisabled', { value: true });
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
