import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { POPUP_URLS_MAX } from '@adsweep/shared/capture/observations/navigation.ts';
import { rootOf } from '../devtools/devtools.ts';
import { clipUrl } from '../session/urls.ts';
import type { Collector } from './collector.ts';

type Facts = ObservationOf<'popups'>['facts'];

/** What a tab opened; `byClick`: the number of windows by the number of clicks made before. */
type Opened = Omit<Facts, 'windows'> & { byClick: Map<number, number> };

/** Windows that tabs opened by script: without a click, and by the click that opened the most. */
export const popups: Collector = {
  name: 'popups',
  start(capture) {
    const byTab = new Map<string, Opened>();
    capture.devtools.on('Page.windowOpen', ({ url, userGesture }, session) => {
      const { phase, clicks, isWithoutGesture } = capture.visit;
      if (phase === 'checking' || phase === 'probing') return;
      const tab = rootOf(session).targetId;
      const opened: Opened = byTab.get(tab) ?? { without_gesture: 0, urls: [], byClick: new Map() };
      byTab.set(tab, opened);
      opened.byClick.set(clicks, (opened.byClick.get(clicks) ?? 0) + 1);
      if (!userGesture && isWithoutGesture) opened.without_gesture += 1;
      if (opened.urls.length < POPUP_URLS_MAX) opened.urls.push(clipUrl(url));
    });
    return (draft) => {
      for (const { ord, tab } of capture.landings.numbered()) {
        const opened = byTab.get(tab.session.targetId);
        if (opened) draft.observations.push({ kind: 'popups', landing: ord, url: tab.url, facts: asFacts(opened) });
      }
    };
  },
};

/** A creative is clicked until something opens, so windows of several clicks are not added up: they are not a flood. */
function asFacts({ byClick, without_gesture, urls }: Opened): Facts {
  const { 0: byItself = 0, ...clicks } = Object.fromEntries(byClick);
  return { windows: byItself + Math.max(0, ...Object.values(clicks)), without_gesture, urls };
}
