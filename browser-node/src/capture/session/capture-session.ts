import { randomBytes } from 'node:crypto';
import { type Note, note } from '@adsweep/shared/capture/notes.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { OpenContext } from '../../browser/open-context.ts';
import { ContextTargets } from '../devtools/context-targets.ts';
import { CHILDREN_MAX, COMMAND_MS, type DevTools, disableScripts, type TargetSession } from '../devtools/devtools.ts';
import type { ThreadTimes } from '../devtools/thread-times.ts';
import { observationScript } from '../page-scripts/observation-script.ts';
import type { TimerSubject } from '../page-scripts/watch-timers.ts';
import { ContextListeners } from './context-listeners.ts';
import { Ending } from './ending.ts';
import type { Landings } from './landings.ts';
import { NetworkJournal } from './network-journal.ts';
import { type OpenTab, OpenTabs, type SessionScope } from './open-tabs.ts';
import { PageReports } from './page-reports.ts';
import { PendingRequests } from './pending-requests.ts';
import { recordRequests } from './record-requests.ts';
import type { Tab } from './tab.ts';
import type { Visit } from './visit.ts';
import { watchTabs } from './watch-tabs.ts';

/** What one capture observes of a browser context. It says nothing of what the capture does. */
export type CaptureSession = {
  readonly open: OpenContext;
  readonly listeners: ContextListeners;
  readonly devtools: DevTools;
  readonly journal: NetworkJournal;
  readonly pendingRequests: PendingRequests;
  readonly tabs: OpenTabs;
  readonly reports: PageReports;
  readonly ending: Ending;
  readonly logger: Logger;
  /** Unix time in ms, and the same moment of `performance.now()`. */
  readonly startedAtMs: number;
  readonly startedAt: number;
  /** Tabs and frames whose scripts were stopped because they did not answer, with their times then. */
  readonly busyDocuments: Map<TargetSession, ThreadTimes | null>;
  /** When tabs and frames last told how busy they had been. */
  readonly threadTimes: Map<TargetSession, ThreadTimes>;
  /** What the capture lacks so far. */
  readonly notes: Note[];
};

/**
 * The capture of one member in a session: with what the session observes, what its visit does and which tabs are its
 * landings.
 */
export type MemberCapture = CaptureSession & {
  readonly visit: Visit;
  readonly landings: Landings;
  /** The URL of the harness page, which is never requested from a server; '' = the target needs none. */
  readonly publisherUrl: string;
  /** The page is swept: its ads are captured after it, in the places in which they were found. */
  readonly isSwept?: boolean;
};

/**
 * The observation of one browser context, as long as it is observed: by one session, or by several, one after the
 * other.
 */
export type ContextWatch = {
  readonly open: OpenContext;
  readonly devtools: ContextTargets;
  /** The state of each tab by its target id. */
  readonly tabStates: Map<string, Tab>;
  /** What the reports of the page scripts begin with. */
  readonly token: string;
  /** Removes the page scripts and ends the observation. Never throws. */
  close(): Promise<void>;
};

/**
 * Begins to observe a context in which nothing was opened yet. Rejects when the browser is gone or does not answer in
 * time.
 */
export async function watchContext(open: OpenContext): Promise<ContextWatch> {
  const devtools = ContextTargets.connect(open);
  const tabStates = watchTabs(devtools);
  const [token, mark] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
  try {
    const script = await open.context.addInitScript({ content: observationScript(token, open.reportBy, mark) });
    const close = async () => {
      devtools.close();
      // A page that does not answer holds this up.
      await withDeadline(script.dispose(), COMMAND_MS, 'the end of the page scripts').catch(() => undefined);
    };
    return { open, devtools, tabStates, token, close };
  } catch (error) {
    devtools.close();
    throw error;
  }
}

/**
 * Begins a session. No other session of its context goes on. Tabs that an earlier one left are closed, unless they are
 * kept.
 */
export function openSession(
  watch: ContextWatch,
  scope: SessionScope,
  signal: AbortSignal,
  logger: Logger,
): CaptureSession {
  const startedAtMs = Date.now();
  const startedAt = performance.now();
  const { open, tabStates } = watch;
  const { kept = [] } = scope;
  const ending = new Ending();
  const stop = () => ending.end('browser: TIMEOUT', signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const listeners = new ContextListeners(open.context);
  listeners.on('close', () => ending.end('browser: CRASHED', 'the browser context was closed'));
  for (const page of open.context.pages())
    if (kept.every((one) => one.page !== page)) page.close().catch(() => undefined);
  const devtools = watch.devtools.observer();
  open.letNewTabsLoad(true);
  const tabs = new OpenTabs(listeners, devtools, tabStates, ending, scope);
  const reports = new PageReports(listeners, watch.token);
  reports.on('timer', (page, [subject, ms]) => {
    tabs.known(page)?.tab.timer(subject as TimerSubject, Number(ms) || 0);
  });
  const notes: CaptureSession['notes'] = [];
  const journal = new NetworkJournal(tabStates, scope.admitsRequest);
  const pendingRequests = new PendingRequests();
  recordRequests(devtools, tabStates, { journal, pendingRequests });
  /** Whether the capture ends here, because others use the browser that its page fills. */
  const leavesShared = () => {
    if (!open.leaveShared()) return false;
    ending.end(
      'browser: CRASHED',
      'the page starts more frames, holds more memory or keeps more renderers busy than a shared browser has for it',
    );
    for (const { tab } of [...kept, ...tabs.all]) tab.session.notify('Page.crash');
    return true;
  };
  devtools.onCrowding(() => void leavesShared());
  devtools.onFlooded((_by, max) => {
    if (max === CHILDREN_MAX && leavesShared()) return;
    notes.push(note('stopped_flood'));
    stopFlood(devtools, [...kept, ...tabs.all]);
  });
  devtools.onMessageFlood((by) => {
    notes.push(note('stopped_console'));
    // The page around a frame of another site did nothing wrong.
    if (by?.type === 'iframe') void disableScripts(by);
    else stopFlood(devtools, [...kept, ...tabs.all]);
  });
  return {
    open,
    listeners,
    devtools,
    journal,
    pendingRequests,
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

/** From now on tabs that open load no page, and are not kept: they are opened only to see whether they would be. */
export function refuseTabs({ open, tabs }: CaptureSession): void {
  open.letNewTabsLoad(false);
  tabs.refuseFurther();
}

/**
 * From now on a tab of the session loads no page, although its scripts go on, and what it has tried since `fromMs` is
 * not recorded. One that an earlier session opened stays as it is.
 */
export function stopLoads({ open, tabs }: CaptureSession, { tab }: OpenTab, fromMs: number): void {
  if (tabs.all.every((one) => one.tab !== tab)) return;
  open.stopLoads(tab.session.targetId);
  tab.loadsNothingFromMs = fromMs;
}

/** Removes all of a session's listeners, so that the next session can use the context. */
export function leaveSession({ devtools, listeners }: CaptureSession): void {
  devtools.close();
  listeners.removeAll();
}
