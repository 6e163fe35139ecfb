import type { Dialog, Page } from 'playwright-core';
import { DIALOGS_MAX } from '../budgets.ts';
import { stopScript } from '../landings.ts';
import type { Stage } from '../stage.ts';
import type { Collector } from './collector.ts';

/** Answers dialogs as a visitor who wants to be left alone; a page that goes on showing them is stopped. */
export const dialogs: Collector = {
  name: 'dialogs',
  budgetMs: 1_000,
  start(stage) {
    const shown = new Map<Page, number>();
    stage.open.context.on('dialog', (dialog) => {
      const page = dialog.page();
      // A dialog without a page belongs to a tab that is only just opening.
      if (page) shown.set(page, (shown.get(page) ?? 0) + 1);
      void answer(stage, dialog, page !== null && shown.get(page) === DIALOGS_MAX + 1);
    });
    return () => {
      const count = [...shown.values()].reduce((sum, each) => sum + each, 0);
      if (count > 0) stage.notes.push({ collector: 'dialogs', text: `${count} dialogs were answered` });
    };
  },
};

async function answer(stage: Stage, dialog: Dialog, isTooMany: boolean): Promise<void> {
  const landing = stage.landings.all.find(({ page }) => page === dialog.page());
  // Told before the dialog is closed: the next one would come first otherwise.
  const stopping = isTooMany && landing ? stopScript(landing.tab.session) : null;
  const leaving = dialog.type() === 'beforeunload';
  // A dialog that is gone with its page needs no answer.
  await (leaving ? dialog.accept() : dialog.dismiss()).catch(() => undefined);
  await stopping;
}
