import { setTimeout as pause } from 'node:timers/promises';
import { note } from '@adsweep/shared/capture/notes.ts';
import { COMMAND_MS, rootOf, type TargetSession } from '../devtools/devtools.ts';
import { readTimes, type ThreadTimes } from '../devtools/thread-times.ts';
import { ANSWER_MS, MAIN_THREAD_WATCHED_MS, underLoad } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import { isShown, type OpenTab } from './open-tabs.ts';

/**
 * Stops the scripts of tabs and frames that are too busy to answer for `answerMs`, so that their contents can be read and captured. Resolves to
 * whether there were any.
 */
export async function stopBusyScripts(session: CaptureSession, answerMs = MAIN_THREAD_WATCHED_MS): Promise<boolean> {
  const busy = await Promise.all(shownDocuments(session).map((one) => stopIfBusy(session, one, answerMs)));
  const isBusy = busy.includes(true);
  if (isBusy) session.notes.push(note('stopped_busy'));
  return isBusy;
}

/** The tabs that are shown, and their frames of other sites. */
function shownDocuments({ tabs, devtools }: CaptureSession): TargetSession[] {
  const shown = new Set(
    tabs
      .withKept()
      .filter(isShown)
      .map(({ tab }) => tab.session),
  );
  return [...devtools.sessions()].filter(
    (one) => (one.type === 'page' || one.type === 'iframe') && shown.has(rootOf(one)),
  );
}

/** How long the frames of a page that does not answer are watched. */
const FRAMES_WATCHED_MS = 1_000;
/** How long the page may then take to answer. */
const HANDLES_REST_MS = 20_000;
/** A frame is held responsible for it from this share of the time on, if it is also the busiest or nearly so. */
const HOLDS_UP_SHARE = 0.2;
const NEARLY_AS_BUSY = 0.5;

/**
 * If a page does not answer soon, stops the scripts of the frames of other sites that are busiest: one that sends it messages without end holds
 * it up, and the page itself does nothing wrong. Never throws.
 */
export async function stopFramesThatHoldUp(session: CaptureSession, { tab }: OpenTab): Promise<void> {
  const deadlineMs = underLoad(session, ANSWER_MS);
  const asking = tab.session.send('Runtime.evaluate', { expression: '1' }, deadlineMs);
  if (await asking.then(() => true).catch(() => false)) return;
  const frames = shownDocuments(session).filter((one) => one.type === 'iframe' && rootOf(one) === tab.session);
  const before = await Promise.all(frames.map((frame) => readTimes(frame, deadlineMs)));
  await session.ending.race(pause(FRAMES_WATCHED_MS));
  const after = await Promise.all(frames.map((frame) => readTimes(frame, deadlineMs)));
  const shares = frames.map((_, at) => busyShare(before[at] ?? null, after[at] ?? null));
  const least = Math.max(HOLDS_UP_SHARE, NEARLY_AS_BUSY * Math.max(...shares));
  const busy = frames.filter((_, at) => (shares[at] ?? 0) >= least);
  if (busy.length === 0) return;
  for (const frame of busy) await stopFrame(session, frame);
  session.notes.push(note('stopped_busy'));
  // It has to handle what it was sent before.
  const handling = tab.session.send('Runtime.evaluate', { expression: '1' }, HANDLES_REST_MS);
  await handling.catch(() => undefined);
}

/** The share of the time between two readings that a thread was busy; one that does not answer was all the time. Pure. */
function busyShare(before: ThreadTimes | null, after: ThreadTimes | null): number {
  if (!before || !after) return 1;
  return after.at > before.at ? (after.inTasks - before.inTasks) / (after.at - before.at) : 0;
}

async function stopFrame({ busyDocuments }: CaptureSession, frame: TargetSession): Promise<void> {
  frame.notify('Emulation.setScriptExecutionDisabled', { value: true });
  await frame.send('Runtime.terminateExecution', undefined, COMMAND_MS).catch(() => undefined);
  busyDocuments.set(frame, null);
}

async function stopIfBusy(session: CaptureSession, document: TargetSession, answerMs: number): Promise<boolean> {
  const { busyDocuments, tabs } = session;
  try {
    await document.send('Runtime.evaluate', { expression: '1' }, underLoad(session, answerMs));
    return false;
  } catch {
    const own = tabs.withKept().find(({ tab }) => tab.session === document);
    if (own) await own.tab.stopScript();
    else await stopFrame(session, document);
    busyDocuments.set(document, await readTimes(document, underLoad(session, ANSWER_MS)));
    return true;
  }
}

/** Remembers the times of all documents: one that does not answer from now on has been busy since. */
export async function rememberTimes(session: CaptureSession): Promise<void> {
  const remember = async (document: TargetSession) => {
    const times = await readTimes(document, underLoad(session, ANSWER_MS));
    if (times) session.threadTimes.set(document, times);
  };
  await Promise.all(shownDocuments(session).map(remember));
}
