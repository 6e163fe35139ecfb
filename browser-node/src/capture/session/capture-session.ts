import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { OpenContext } from '../../browser/open-context.ts';
import type { DevTools } from '../devtools/devtools.ts';
import { SecondClient } from '../devtools/second-client.ts';
import type { CaptureRequest } from './capture-outcome.ts';
import { ContextListeners } from './context-listeners.ts';
import { Ending } from './ending.ts';
import { type ChooseLandings, Landings, type OpenTab } from './landings.ts';
import { NetworkJournal } from './network-journal.ts';
import { PageReports } from './page-reports.ts';
import type { SeenCreative } from './seen-creative.ts';
import { watchTabs } from './tab.ts';

/** The state that all steps of one capture share. */
export type CaptureSession = {
  open: OpenContext;
  listeners: ContextListeners;
  devtools: DevTools;
  journal: NetworkJournal;
  landings: Landings;
  reports: PageReports;
  ending: Ending;
  /** The tab whose own failure is the capture's, undefined = there is none. */
  subject: () => OpenTab | undefined;
  /** The creative of an ad tag or VAST tag, null before it was looked for and on pages. */
  creative: SeenCreative | null;
  /** The address of our own page that a creative stands on, null on pages. No server was asked for it. */
  publisherUrl: string | null;
  logger: Logger;
  /** Unix time in ms, and the same moment of `performance.now()`. */
  startedAtMs: number;
  startedAt: number;
  notes: { collector: string; text: string }[];
  /** Unix time in ms at which the capture itself first clicked, null = it has not. */
  clickedAtMs: number | null;
  /** How many clicks on a creative were made so far to see where it leads. */
  clicks: number;
  /** Clicks are being made only to find out what they open: tabs that they open are not landings. */
  isChecking: boolean;
  /** The capture itself is navigating a tab, not a page. */
  isLeading: boolean;
};

const UNREAD = 'a page wrote without end to its console, and was stopped';

/** Whether pages act on their own at this time: nothing was clicked, and no probe is under way. */
export const actsByItself = ({ clickedAtMs, journal }: CaptureSession): boolean =>
  clickedAtMs === null && journal.closedAtMs === null;

/** Sets up the observation of a context in which nothing was opened yet. `target` says which tabs are landings. Rejects when the browser is gone or does not answer in time. */
export async function openCaptureSession(
  open: OpenContext,
  limits: CaptureRequest['limits'],
  target: { landings: ChooseLandings; subject: (tabs: readonly OpenTab[]) => OpenTab | undefined },
  signal: AbortSignal,
  logger: Logger,
): Promise<CaptureSession> {
  const startedAtMs = Date.now();
  const startedAt = performance.now();
  const ending = new Ending();
  const stop = () => ending.end('browser: TIMEOUT', signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const listeners = new ContextListeners(open.context);
  listeners.on('close', () => ending.end('browser: CRASHED', 'the browser context was closed'));
  // An earlier capture in this context may have left a tab that did not close in time.
  for (const page of open.context.pages()) page.close().catch(() => undefined);
  const devtools = await SecondClient.connect(open);
  const tabs = watchTabs(devtools);
  const landings = new Landings(listeners, devtools, tabs, ending, limits, target.landings);
  const reports = new PageReports(open.context, listeners);
  reports.on('timer', (page, [ms]) => {
    landings.tabs.find((one) => one.page === page)?.tab.announced(Number(ms) || 0);
  });
  const notes: CaptureSession['notes'] = [];
  devtools.onFlooded(() => {
    notes.push({ collector: 'settle', text: 'frames and workers were started without end, and stopped' });
    stopFlood(devtools, landings.tabs);
  });
  devtools.onUnreadFlood(() => {
    if (!notes.some(({ text }) => text === UNREAD)) notes.push({ collector: 'page', text: UNREAD });
    stopFlood(devtools, landings.tabs);
  });
  return {
    open,
    listeners,
    devtools,
    journal: new NetworkJournal(devtools, tabs),
    landings,
    subject: () => target.subject(landings.tabs),
    reports,
    ending,
    creative: null,
    publisherUrl: null,
    logger,
    startedAtMs,
    startedAt,
    notes,
    clickedAtMs: null,
    clicks: 0,
    isChecking: false,
    isLeading: false,
  };
}

/** Ends all scripts of a capture that floods the browser, at once: what its tabs show can then be inspected. */
function stopFlood(devtools: DevTools, tabs: readonly OpenTab[]): void {
  for (const { tab } of tabs) void tab.stopScript();
  for (const session of devtools.sessions()) if (session.type !== 'page') session.notify('Runtime.terminateExecution');
}

/** Removes all of this capture's listeners, so that the next capture can use the context. Never throws. */
export async function leaveContext({ devtools, listeners, reports }: CaptureSession): Promise<void> {
  devtools.close();
  listeners.removeAll();
  await reports.stop();
}
