import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { POPUP_URLS_MAX } from '@adsweep/shared/capture/observations/navigation.ts';
import { rootOf, type TargetSession } from '../devtools/devtools.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import { clipUrl } from '../session/urls.ts';
import type { Collector } from './collector.ts';

type Facts = ObservationOf<'popups'>['facts'];

/**
 * A window that a script opened. `frameId`: the frame that opened it, or that of its target until the tab opens;
 * `clicks`: those that were made before; `isOfCheck`: it was opened while the elements of a creative were checked,
 * which counts only for what was not clicked.
 */
type OpenedWindow = {
  session: TargetSession;
  frameId: string | null;
  hasTab: boolean;
  url: string;
  clicks: number;
  hasGesture: boolean;
  isUnprompted: boolean;
  isOfCheck: boolean;
};

/** A page that opens more windows has its scripts stopped long before. */
const WINDOWS_MAX = 1_000;

/** Windows that frames opened by script: without a click, and by the click that opened the most. */
export const popups: Collector = {
  name: 'popups',
  start(capture) {
    const windows = watchWindows(capture);
    return (draft) => {
      const counted = windows.filter(({ isOfCheck, isUnprompted }) => isUnprompted || !isOfCheck);
      for (const { ord, tab } of capture.landings.numbered()) {
        const opened = counted.filter(({ session }) => rootOf(session) === tab.session);
        for (const [frameId, ofFrame] of Map.groupBy(opened, (one) => one.frameId)) {
          const facts = asFacts(ofFrame);
          draft.observations.push({ kind: 'popups', landing: ord, url: tab.url, facts, frameId });
        }
      }
    };
  },
};

/**
 * Chromium reports the target in which a window was opened, which may hold several frames, then the tab, with the frame
 * that opened it.
 */
function watchWindows({ devtools, visit }: MemberCapture): OpenedWindow[] {
  const windows: OpenedWindow[] = [];
  devtools.on('Page.windowOpen', ({ url, userGesture: hasGesture }, session) => {
    const { phase, clicks } = visit;
    if (phase === 'probing' || windows.length >= WINDOWS_MAX) return;
    const { frameId } = session;
    const isUnprompted = !hasGesture && visit.isUnprompted(frameId);
    const isOfCheck = phase === 'checking';
    const opened = { session, frameId, hasTab: false, url: clipUrl(url), clicks, hasGesture, isUnprompted, isOfCheck };
    windows.push(opened);
  });
  devtools.onAttached(({ type, openerFrameId }) => {
    if (type !== 'page' || openerFrameId === '') return;
    const waiting = windows.filter(({ hasTab }) => !hasTab);
    const opener = devtools.frames.nearest(openerFrameId, new Set(waiting.map(({ session }) => session.targetId)));
    const opened = waiting.find(({ session }) => session.targetId === opener);
    if (!opened) return;
    const isUnprompted = !opened.hasGesture && visit.isUnprompted(openerFrameId);
    Object.assign(opened, { hasTab: true, frameId: openerFrameId, isUnprompted });
  });
  return windows;
}

/** A creative is clicked until something opens, so windows of several clicks are not added up: they are not a flood. */
function asFacts(windows: readonly OpenedWindow[]): Facts {
  const byClick = [...Map.groupBy(windows, ({ clicks }) => clicks)].map(([clicks, { length }]) => ({ clicks, length }));
  const byItself = byClick.find(({ clicks }) => clicks === 0)?.length ?? 0;
  const ofClicks = byClick.filter(({ clicks }) => clicks > 0).map(({ length }) => length);
  return {
    windows: byItself + Math.max(0, ...ofClicks),
    without_gesture: windows.filter(({ isUnprompted }) => isUnprompted).length,
    urls: windows.slice(0, POPUP_URLS_MAX).map(({ url }) => url),
  };
}
