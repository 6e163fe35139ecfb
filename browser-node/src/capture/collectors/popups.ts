import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { POPUP_URLS_MAX } from '@adsweep/shared/capture/observations/popups.ts';
import { rootOf } from '../devtools/devtools.ts';
import { actsByItself } from '../session/capture-session.ts';
import { clipUrl } from '../session/clip-url.ts';
import type { Collector } from './collector.ts';

type Facts = ObservationOf<'popups'>['facts'];

/** Windows that tabs opened by script, by themselves or by what was clicked. */
export const popups: Collector = {
  name: 'popups',
  budgetMs: 1_000,
  start(captureSession) {
    const byTab = new Map<string, Facts>();
    captureSession.devtools.on('Page.windowOpen', ({ url, userGesture }, session) => {
      if (captureSession.journal.closedAtMs !== null || captureSession.isChecking) return;
      const tab = rootOf(session).targetId;
      const facts = byTab.get(tab) ?? { windows: 0, without_gesture: 0, urls: [] };
      byTab.set(tab, facts);
      facts.windows += 1;
      if (!userGesture && actsByItself(captureSession)) facts.without_gesture += 1;
      if (facts.urls.length < POPUP_URLS_MAX) facts.urls.push(clipUrl(url));
    });
    return (draft) => {
      for (const { ord, tab } of captureSession.landings.placed()) {
        const facts = byTab.get(tab.session.targetId);
        if (facts) draft.observations.push({ kind: 'popups', landing: ord, url: tab.url, facts });
      }
    };
  },
};
