import { ANSWER_MS, underLoad } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import { isShown, type OpenTab } from './landings.ts';

/** Stops the scripts of tabs that are too busy to answer, so that their contents can be read and captured. */
export async function stopBusyScripts(captureSession: CaptureSession): Promise<void> {
  const busy = await Promise.all(
    captureSession.landings.tabs.filter(isShown).map((tab) => isBusy(captureSession, tab)),
  );
  if (busy.includes(true))
    captureSession.notes.push({ collector: 'page', text: 'a page kept its main thread busy and was stopped' });
}

async function isBusy(captureSession: CaptureSession, { tab }: OpenTab): Promise<boolean> {
  try {
    await tab.session.send('Runtime.evaluate', { expression: '1' }, underLoad(captureSession, ANSWER_MS));
    return false;
  } catch {
    await tab.stopScript();
    return true;
  }
}
