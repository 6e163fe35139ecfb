import { note } from '@adsweep/shared/capture/notes.ts';
import type { TargetSession } from '../devtools/devtools.ts';
import { ANSWER_MS, TITLE_LENGTH_MAX, underLoad } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import { plainText } from './plain-text.ts';

/**
 * The title of a tab as the browser knows it, also if its page does not answer; otherwise '' and a note. `landing`: the
 * ordinal of the tab, null: it is none.
 */
export async function browserTitle(
  capture: CaptureSession,
  session: TargetSession,
  landing: number | null,
): Promise<string> {
  try {
    const deadlineMs = underLoad(capture, ANSWER_MS);
    const { entries, currentIndex } = await session.send('Page.getNavigationHistory', undefined, deadlineMs);
    return plainText(entries[currentIndex]?.title.slice(0, TITLE_LENGTH_MAX) ?? '');
  } catch (cause) {
    capture.logger.info({ cause }, 'the title of a tab could not be read');
    capture.notes.push(note('title', { landing }));
    return '';
  }
}
