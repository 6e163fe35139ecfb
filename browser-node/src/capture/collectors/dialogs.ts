import { setTimeout as pause } from 'node:timers/promises';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { Dialog, Page } from 'playwright-core';
import type { TargetSession } from '../devtools/devtools.ts';
import { DIALOG_PAUSE_MS, DIALOGS_MAX } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { Collector } from './collector.ts';

/** Counts dialogs and dismisses them; stops the scripts of a page that keeps showing them. */
export const dialogs: Collector = {
  name: 'dialogs',
  start(capture) {
    const shown = new Map<Page, number>();
    const unprompted = new Map<TargetSession, Map<string, number>>();
    capture.devtools.on('Page.javascriptDialogOpening', ({ type, frameId }, session) => {
      // Chromium reports the dialogs of all frames to their tab.
      if (session.type !== 'page' || type === 'beforeunload' || !capture.visit.isUnprompted(frameId)) return;
      const byFrame = unprompted.get(session) ?? new Map<string, number>();
      unprompted.set(session, byFrame.set(frameId, (byFrame.get(frameId) ?? 0) + 1));
    });
    capture.listeners.on('dialog', (dialog) => {
      const page = dialog.page();
      // A dialog without a page belongs to a tab that is still opening.
      if (page) shown.set(page, (shown.get(page) ?? 0) + 1);
      void answer(capture, dialog, page ? (shown.get(page) ?? 0) : 0);
    });
    return (draft) => {
      for (const { ord, tab } of capture.landings.numbered())
        for (const [frameId, count] of unprompted.get(tab.session) ?? [])
          draft.observations.push({ kind: 'dialogs', landing: ord, url: tab.url, facts: { count }, frameId });
      const count = [...shown.values()].reduce((sum, each) => sum + each, 0);
      if (count > 0) capture.notes.push(note('dialogs', { count }));
    };
  },
};

/** Closes a dialog. `count`: how many its page has shown so far. */
async function answer(capture: CaptureSession, dialog: Dialog, count: number): Promise<void> {
  const page = dialog.page();
  const shown = page ? capture.tabs.known(page) : undefined;
  // The stop is sent before the dialog is closed: otherwise the next dialog would open first.
  const stopping = count > DIALOGS_MAX && shown && !shown.tab.isScriptDisabled ? shown.tab.stopScript() : null;
  // The page waits for the answer, so the browser has time to stop it.
  if (count > DIALOGS_MAX) await pause(DIALOG_PAUSE_MS);
  const leaving = dialog.type() === 'beforeunload';
  // A dialog of a page that was closed needs no answer.
  await (leaving ? dialog.accept() : dialog.dismiss()).catch(() => undefined);
  await stopping;
}
