import { DEMANDS, type Demand } from '@adsweep/shared/capture/observations/interruption.ts';
import type { Page } from 'playwright-core';
import { actsByItself, type CaptureSession } from '../session/capture-session.ts';
import { clickAnywhere, handlesClicksAnywhere } from '../session/click-anywhere.ts';
import type { Landing } from '../session/landings.ts';
import type { Collector } from './collector.ts';

/** A function that a click runs and that has to do with the whole screen. */
const FULLSCREEN = /full_?screen/i;

/**
 * Calls of pages that use a visitor's device or clipboard unasked. Where a handler of clicks anywhere speaks of
 * the whole screen, one click on a plain place shows what it does.
 */
export const unpromptedCalls: Collector = {
  name: 'unprompted-calls',
  budgetMs: 6_000,
  start(captureSession) {
    const byItself = new Map<Page, Set<Demand>>();
    const afterClick = new Map<Page, Set<Demand>>();
    captureSession.reports.on('unprompted-call', (page, [name, byUser]) => {
      const demand = DEMANDS.find((known) => known === name);
      if (!demand || (byUser !== 'true' && !actsByItself(captureSession))) return;
      const calls = byUser === 'true' ? afterClick : byItself;
      calls.set(page, (calls.get(page) ?? new Set()).add(demand));
    });
    return async (draft) => {
      for (const { page, ord, tab } of captureSession.landings.placed())
        for (const demand of byItself.get(page) ?? []) {
          const facts = { demand, trigger: 'none' } as const;
          draft.observations.push({ kind: 'unprompted_call', landing: ord, url: tab.url, facts });
        }
      const landing = captureSession.landings.shown().find(({ tab }) => tab === captureSession.subject()?.tab);
      if (!landing || byItself.get(landing.page)?.has('fullscreen')) return;
      const { url } = landing.tab;
      const scripts = draft.bodies.flatMap(({ resource_type, text }) => (resource_type === 'script' && text) || []);
      if (!(await clicksFor(captureSession, landing, scripts, afterClick))) return;
      const facts = { demand: 'fullscreen', trigger: 'click_anywhere' } as const;
      draft.observations.push({ kind: 'unprompted_call', landing: landing.ord, url, facts });
    };
  },
};

/** Whether a click on a plain place makes the page ask for the whole screen. */
async function clicksFor(
  captureSession: CaptureSession,
  landing: Landing,
  scripts: readonly string[],
  afterClick: Map<Page, Set<Demand>>,
): Promise<boolean> {
  if (landing.tab.isScriptDisabled || !(await handlesClicksAnywhere(landing, FULLSCREEN, scripts))) return false;
  afterClick.delete(landing.page);
  await clickAnywhere(captureSession, landing);
  return afterClick.get(landing.page)?.has('fullscreen') === true;
}
