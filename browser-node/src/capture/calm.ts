import { ANSWER_MS } from './budgets.ts';
import { type Landing, stopScript } from './landings.ts';
import { underLoad } from './machine-load.ts';
import type { Stage } from './stage.ts';

/** Stops the script of tabs that are too busy to answer: what they show can then be read and pictured. */
export async function calm(stage: Stage): Promise<void> {
  const busy = await Promise.all(stage.landings.all.map(isBusy));
  if (busy.includes(true))
    stage.notes.push({ collector: 'page', text: 'a page kept its main thread busy and was stopped' });
}

async function isBusy({ page, tab }: Landing): Promise<boolean> {
  if (page.isClosed()) return false;
  try {
    await tab.session.send('Runtime.evaluate', { expression: '1' }, underLoad(ANSWER_MS));
    return false;
  } catch {
    await stopScript(tab.session);
    return true;
  }
}
