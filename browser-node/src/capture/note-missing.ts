import { PAGE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import { SUBJECT_ORD } from '@adsweep/shared/capture/capture.ts';
import { type Note, note } from '@adsweep/shared/capture/notes.ts';
import type { Draft } from './collectors/collector.ts';
import type { MemberCapture } from './session/capture-session.ts';
import { isShown } from './session/open-tabs.ts';
import type { Visited } from './targets/target.ts';

type Watched = Pick<MemberCapture, 'tabs' | 'landings'>;

/**
 * Remembers which tabs can be inspected. The returned function lists what a draft lacks of them: screenshots, tabs that
 * closed themselves before they were read, and windows that no server has answered: what these lead to is not known.
 * The collector of documents notes the texts that it could not read. `isPage`: the target is a page, of which there
 * always is a landing to be shown.
 */
export function watchLandings(
  { tabs, landings }: Watched,
  { creative }: Pick<Visited, 'creative'>,
  isPage: boolean,
): (draft: Pick<Draft, 'landings' | 'documents' | 'files'>) => Note[] {
  const opened = landings.all.filter(({ tab }) => tab.committed && !tab.refused);
  const shown = new Set(landings.shown().map(({ ord }) => ord));
  const hasHarness = creative !== undefined && isShown(creative.tab);
  const silent = new Set(tabs.unanswered().filter(({ hops }) => hops > 0));
  return (draft) => {
    const isRead = (ord: number) => draft.documents.some(({ landing, frame }) => landing === ord && frame === '');
    const closed = new Set(opened.filter(({ ord, page }) => page.isClosed() && !isRead(ord)).map(({ ord }) => ord));
    const isExpected = (ord: number) => !closed.has(ord) && (shown.has(ord) || (isPage && ord === SUBJECT_ORD));
    const unpictured = draft.landings.filter(({ ord, screenshot }) => screenshot === null && isExpected(ord));
    const uninspected = tabs.uninspected + tabs.unanswered().filter((tab) => silent.has(tab)).length;
    const lacksPage = !shown.has(SUBJECT_ORD) && draft.files.every(({ name }) => name !== PAGE_SCREENSHOT);
    return [
      ...unpictured.map(({ ord }) => note('picture', { landing: ord })),
      ...(hasHarness && lacksPage ? [note('picture')] : []),
      ...[...closed].map((landing) => note('closed', { landing })),
      ...(uninspected > 0 ? [note('landings', { count: uninspected })] : []),
    ];
  };
}
