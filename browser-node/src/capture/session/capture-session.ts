import { type Note, note } from '@adsweep/shared/capture/notes.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { OpenContext } from '../../browser/open-context.ts';
import type { DevTools, TargetSession } from '../devtools/devtools.ts';
import { SecondClient } from '../devtools/second-client.ts';
import type { ThreadTimes } from '../devtools/thread-times.ts';
import type { TimerSubject } from '../page-scripts/watch-timers.ts';
import type { CaptureRequest } from './capture-outcome.ts';
import { ContextListeners } from './context-listeners.ts';
import { Ending } from './ending.ts';
import type { Landings } from './landings.ts';
import { NetworkJournal } from './network-journal.ts';
import { type OpenTab, OpenTabs } from './open-tabs.ts';
import { PageReports } from './page-reports.ts';
import { watchTabs } from './tab.ts';
import type { Visit } from './visit.ts';

/** The observation of one browser context, from before its first tab until its last tab is closed. It says nothing of what the capture does. */
export type CaptureSession = {
  readonly open: OpenContext;
  readonly listeners: ContextListeners;
  readonly devtools: DevTools;
  readonly journal: NetworkJournal;
  readonly tabs: OpenTabs;
  readonly reports: PageReports;
  readonly ending: Ending;
  readonly logger: Logger;
  /** Unix time in ms, and the same moment of `performance.now()`. */
  readonly startedAtMs: number;
  readonly startedAt: number;
  /** What the capture lacks so far. */
  /** Tabs and frames whose scripts were stopped because they did not answer, with their times then. */
  readonly busyDocuments: Map<TargetSession, ThreadTimes | null>;
  /** When tabs and frames last told how busy they had been. */
  readonly threadTimes: Map<TargetSession, ThreadTimes>;
  readonly notes: Note[];
};

/** The capture of one member in a session: with what the session observes, what its visit does and which tabs are its landings. */
export type MemberCapture = CaptureSession & {
  readonly visit: Visit;
  readonly landings: Landings;
  /** The URL of the harness page, which is never requested from a server; '' = the target needs none. */
  readonly publisherUrl: string;
};

/** Begins to observe a context in which nothing was opened yet. Rejects when the browser is gone or does not answer in time. */
export async function openCaptureSession(
  open: OpenContext,
  limits: CaptureRequest['limits'],
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
  const tabStates = watchTabs(devtools);
  const tabs = new OpenTabs(listeners, devtools, tabStates, ending, limits);
  const reports = new PageReports(open, listeners);
  reports.on('timer', (page, [subject, ms]) => {
    tabs.all.find((one) => one.page === page)?.tab.timer(subject as TimerSubject, Number(ms) || 0);
  });
  const notes: CaptureSession['notes'] = [];
  devtools.onFlooded(() => {
    notes.push(note('stopped_flood'));
    stopFlood(devtools, tabs.all);
  });
  devtools.onMessageFlood(() => {
    notes.push(note('stopped_console'));
    stopFlood(devtools, tabs.all);
  });
  const journal = new NetworkJournal(devtools, tabStates);
  return {
    open,
    listeners,
    devtools,
    journal,
    tabs,
    reports,
    ending,
    logger,
    startedAtMs,
    startedAt,
    busyDocuments: new Map(),
    threadTimes: new Map(),
    notes,
  };
}

/** Stops all scripts of a context that floods the browser at once, so that what its tabs show can be inspected. */
function stopFlood(devtools: DevTools, tabs: readonly OpenTab[]): void {
  for (const { tab } of tabs) {
    void tab.stopScript();
    // Cancels the requests that wait for others.
    tab.session.notify('Page.stopLoading');
  }
  for (const session of devtools.sessions()) if (session.type !== 'page') session.notify('Runtime.terminateExecution');
}

/** Opens a tab; null: the capture ended. Rejects when the browser is gone, or the tab does not show up in time. */
export async function openTab({ open, tabs, ending }: CaptureSession): Promise<OpenTab | null> {
  const page = await ending.race(open.context.newPage());
  return page && tabs.of(page);
}

/** Removes all of a session's listeners, so that the next session can use the context. Never throws. */
export async function leaveContext({ devtools, listeners, reports }: CaptureSession): Promise<void> {
  devtools.close();
  listeners.removeAll();
  await reports.stop();
}
