import { ANSWER_MS } from './budgets.ts';
import { type Landing, stopScript } from './landings.ts';
import { underLoad } from './machine-load.ts';
import type { Stage } from './stage.ts';

/** Stops the script of tabs that are too busy to answer: what they show can then be read and pictured. */
export async function calm(stage: Stage): Promise<void> {
  const busy = await Promise.all(stage.landings.shown().map((landing) => isBusy(stage, landing)));
  if (busy.includes(true))
    stage.notes.push({ collector: 'page', text: 'a page kept its main thread busy and was stopped' });
}

async function isBusy(stage: Stage, { tab }: Landing): Promise<boolean> {
  try {
    await tab.session.send('Runtime.evaluate', { expression: '1' }, underLoad(stage, ANSWER_MS));
    return false;
  } catch {
    await stopScript(tab);
    return true;
  }
}
