import { setTimeout as pause } from 'node:timers/promises';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { Dialog, Page } from 'playwright-core';
import { DIALOG_PAUSE_MS, DIALOGS_MAX } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { Collector } from './collector.ts';

/** Counts dialogs and dismisses them; stops the scripts of a page that keeps showing them. */
export const dialogs: Collector = {
  name: 'dialogs',
  start(capture) {
    const shown = new Map<Page, number>();
    const unprompted = new Map<Page, number>();
    capture.listeners.on('dialog', (dialog) => {
      const page = dialog.page();
      // A dialog without a page belongs to a tab that is still opening.
      if (page) shown.set(page, (shown.get(page) ?? 0) + 1);
      if (page && dialog.type() !== 'beforeunload' && capture.visit.isWithoutGesture)
        unprompted.set(page, (unprompted.get(page) ?? 0) + 1);
      void answer(capture, dialog, page ? (shown.get(page) ?? 0) : 0);
    });
    return (draft) => {
      for (const { ord, page, tab } of capture.landings.numbered()) {
        const facts = { count: unprompted.get(page) ?? 0 };
        if (facts.count > 0) draft.observations.push({ kind: 'dialogs', landing: ord, url: tab.url, facts });
      }
      const count = [...shown.values()].reduce((sum, each) => sum + each, 0);
      if (count > 0) capture.notes.push(note('dialogs', { count }));
    };
  },
};

/** Closes a dialog. `count`: how many its page has shown so far. */
async function answer(capture: CaptureSession, dialog: Dialog, count: number): Promise<void> {
  const landing = capture.tabs.all.find(({ page }) => page === dialog.page());
  // The stop is sent before the dialog is closed: otherwise the next dialog would open first.
  const stopping = count > DIALOGS_MAX && landing && !landing.tab.isScriptDisabled ? landing.tab.stopScript() : null;
  // The page waits for the answer, so the browser has time to stop it.
  if (count > DIALOGS_MAX) await pause(DIALOG_PAUSE_MS);
  const leaving = dialog.type() === 'beforeunload';
  // A dialog of a page that was closed needs no answer.
  await (leaving ? dialog.accept() : dialog.dismiss()).catch(() => undefined);
  await stopping;
}
