import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { PROBE_MS, URL_LENGTH_MAX } from '../budgets.ts';
import type { CommandAnswer, TargetSession } from '../devtools/devtools.ts';
import type { Landing } from '../landings.ts';
import { tellHistory } from '../page-scripts/tell-history.ts';
import type { Stage } from '../stage.ts';
import type { Collector } from './collector.ts';

type History = CommandAnswer<'Page.getNavigationHistory'>;

/** Events by which a page can learn that a visitor goes back. */
const BACK_EVENTS = new Set(['popstate', 'hashchange', 'navigate']);

/** What a page did to its history without a click, and where going Back then leads. */
export const backButton: Collector = {
  name: 'back_button',
  budgetMs: 8_000,
  async start(stage) {
    const token = randomBytes(8).toString('hex');
    const lengths = new Map<Page, number>();
    stage.open.context.on('console', (message) => {
      const [mark, length] = message.text().split('|');
      const page = message.page();
      if (mark === token && page) lengths.set(page, Number(length));
    });
    await stage.open.context.addInitScript({ content: `(${tellHistory})(${JSON.stringify({ token })});` });
    return async (draft) => {
      for (const landing of stage.landings.shown()) {
        if (landing.tab.historyWrites === 0) continue;
        const { url } = landing.tab;
        const facts = await historyFacts(stage, landing, lengths.get(landing.page) ?? 1);
        if (facts.pushes > 0) draft.observations.push({ kind: 'back_button', landing: landing.ord, url, facts });
      }
    };
  },
};

async function historyFacts(stage: Stage, { tab }: Landing, lengthAtStart: number) {
  const history = await tab.session.send('Page.getNavigationHistory');
  const { pushes, copies } = historyGrowth(history, tab.historyWrites, lengthAtStart);
  const listens = pushes > 0 && (await listensForBack(tab.session));
  const probe_url = listens ? await probe(stage, tab.session, history) : '';
  return { pushes, copies, popstate_listener: listens, probe_url };
}

/**
 * Entries that the present document added, and how many of them show its own address (a fragment aside). The history of a tab also
 * grows when its frames move on: only what the document wrote itself counts. Pure.
 */
export function historyGrowth({ entries, currentIndex }: History, writes: number, lengthAtStart: number) {
  const pushes = Math.max(0, Math.min(writes, entries.length - lengthAtStart));
  const own = withoutFragment(entries[currentIndex]?.url ?? '');
  const added = entries.slice(entries.length - pushes);
  return { pushes, copies: added.filter(({ url }) => withoutFragment(url) === own).length };
}

async function listensForBack(session: TargetSession): Promise<boolean> {
  for (const expression of ['window', 'window.navigation']) {
    const { result } = await session.send('Runtime.evaluate', { expression });
    if (!result.objectId) continue;
    const { listeners } = await session.send('DOMDebugger.getEventListeners', { objectId: result.objectId });
    if (listeners.some(({ type }) => BACK_EVENTS.has(type))) return true;
  }
  return false;
}

/** Goes Back once; the address it leads to, '' where that is one the visitor has seen already. */
async function probe(stage: Stage, session: TargetSession, { entries, currentIndex }: History): Promise<string> {
  const before = entries[currentIndex - 1];
  const landing = stage.landings.all.find(({ tab }) => tab.session === session);
  if (!before || !landing) return '';
  const seen = new Set(entries.map(({ url }) => withoutFragment(url)));
  const isNew = (url: string) => !seen.has(withoutFragment(url));
  const led = landing.page.waitForURL((url) => isNew(url.href), { timeout: PROBE_MS, waitUntil: 'commit' });
  // What the tab does from here on is no part of the capture.
  stage.journal.close();
  session.tell('Page.navigateToHistoryEntry', { entryId: before.id });
  // Where nothing comes of it, Back leads to what was there before.
  await led.catch(() => undefined);
  const url = landing.page.url();
  return isNew(url) ? url.slice(0, URL_LENGTH_MAX) : '';
}

const withoutFragment = (url: string): string => url.split('#')[0] as string;
