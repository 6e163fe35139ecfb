import { note } from '@adsweep/shared/capture/notes.ts';
import { disableScripts, rootOf, type TargetSession } from '../devtools/devtools.ts';
import { readTimes } from '../devtools/thread-times.ts';
import { ANSWER_MS, MAIN_THREAD_WATCHED_MS, underLoad } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import { isShown } from './open-tabs.ts';

/**
 * Stops the scripts of tabs and frames that are too busy to answer for `answerMs`, so that their contents can be read
 * and captured. Resolves to whether there were any.
 */
export async function stopBusyScripts(session: CaptureSession, answerMs = MAIN_THREAD_WATCHED_MS): Promise<boolean> {
  const busy = await Promise.all(shownDocuments(session).map((one) => stopIfBusy(session, one, answerMs)));
  const isBusy = busy.includes(true);
  if (isBusy) session.notes.push(note('stopped_busy'));
  return isBusy;
}

/** The tabs that are shown, and their frames of other sites; a crashed one has no scripts. */
function shownDocuments({ tabs, devtools }: CaptureSession): TargetSession[] {
  const shown = new Set(
    tabs
      .withKept()
      .filter(isShown)
      .map(({ tab }) => tab.session),
  );
  return [...devtools.sessions()].filter(
    (one) => (one.type === 'page' || one.type === 'iframe') && !one.hasCrashed && shown.has(rootOf(one)),
  );
}

async function stopIfBusy(session: CaptureSession, document: TargetSession, answerMs: number): Promise<boolean> {
  const { busyDocuments, tabs } = session;
  try {
    await document.send('Runtime.evaluate', { expression: '1' }, underLoad(session, answerMs));
    return false;
  } catch {
    const own = tabs.withKept().find(({ tab }) => tab.session === document);
    if (!own) await stopFrame(session, document);
    else {
      await own.tab.stopScript();
      busyDocuments.set(document, await readTimes(document, underLoad(session, ANSWER_MS)));
    }
    return true;
  }
}

/** Stops the scripts of a frame of another site, as far as they run now and later. Never throws. */
export async function stopFrame(session: CaptureSession, frame: TargetSession): Promise<void> {
  await disableScripts(frame);
  session.busyDocuments.set(frame, await readTimes(frame, underLoad(session, ANSWER_MS)));
}

/** Remembers the times of all documents: one that does not answer from now on has been busy since. */
export async function rememberTimes(session: CaptureSession): Promise<void> {
  const remember = async (document: TargetSession) => {
    const times = await readTimes(document, underLoad(session, ANSWER_MS));
    if (times) session.threadTimes.set(document, times);
  };
  await Promise.all(shownDocuments(session).map(remember));
}
