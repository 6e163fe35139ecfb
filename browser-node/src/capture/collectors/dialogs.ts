import { setTimeout as pause } from 'node:timers/promises';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { Dialog, Page } from 'playwright-core';
import type { TargetSession } from '../devtools/devtools.ts';
import { DIALOG_PAUSE_MS, DIALOGS_MAX } from '../session/budgets.ts';
import { stopFrame } from '../session/busy-scripts.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import type { Collector } from './collector.ts';

/**
 * Counts dialogs and dismisses them; stops the scripts of a page, or of a frame of another site in it, that keeps
 * showing them. Those of frames of other origins are not shown: a page script answers and reports them.
 */
export const dialogs: Collector = {
  name: 'dialogs',
  start(capture) {
    const shown = new Map<Page, number>();
    const unprompted = new Map<TargetSession, Map<string, number>>();
    /** The frame that showed the last dialog of each tab. */
    const lastFrames = new Map<TargetSession, string>();
    const stopped = new Set<TargetSession>();
    const record = (session: TargetSession, frameId: string): void => {
      lastFrames.set(session, frameId);
      if (!capture.visit.isUnprompted(frameId)) return;
      const byFrame = unprompted.get(session) ?? new Map<string, number>();
      unprompted.set(session, byFrame.set(frameId, (byFrame.get(frameId) ?? 0) + 1));
    };
    capture.devtools.on('Page.javascriptDialogOpening', ({ type, frameId }, session) => {
      // Chromium reports the dialogs of all frames to their tab.
      if (session.type === 'page' && type !== 'beforeunload') record(session, frameId);
    });
    const stop = async ({ tab }: OpenTab): Promise<void> => {
      const frame = ownProcessOf(capture, lastFrames.get(tab.session) ?? null);
      if (!frame && !tab.isScriptDisabled) await tab.stopScript();
      if (!frame || stopped.has(frame)) return;
      stopped.add(frame);
      await stopFrame(capture, frame);
    };
    const count = (page: Page): number => {
      const all = (shown.get(page) ?? 0) + 1;
      shown.set(page, all);
      return all;
    };
    capture.reports.on('dialog', (page, _, frameId) => {
      const tab = capture.tabs.known(page);
      if (!tab || frameId === null) return;
      record(tab.tab.session, frameId);
      if (count(page) > DIALOGS_MAX) void stop(tab);
    });
    capture.listeners.on('dialog', (dialog) => {
      const page = dialog.page();
      // A dialog without a page belongs to a tab that is still opening.
      const isTooMany = page !== null && count(page) > DIALOGS_MAX;
      const tab = page ? capture.tabs.known(page) : undefined;
      void answer(dialog, isTooMany ? () => tab && stop(tab) : null);
    });
    return (draft) => {
      for (const { ord, tab } of capture.landings.numbered())
        for (const [frameId, count] of unprompted.get(tab.session) ?? [])
          draft.observations.push({ kind: 'dialogs', landing: ord, url: tab.url, facts: { count }, frameId });
      const all = [...shown.values()].reduce((sum, each) => sum + each, 0);
      if (all > 0) capture.notes.push(note('dialogs', { count: all }));
    };
  },
};

/** The session of the frame of another site that a frame is, or is in; null: it is in the process of its tab. */
function ownProcessOf({ devtools }: CaptureSession, frameId: string | null): TargetSession | null {
  const frames = [...devtools.sessions()].filter(({ type }) => type === 'iframe');
  const nearest = devtools.frames.nearest(frameId, new Set(frames.map(({ targetId }) => targetId)));
  return frames.find(({ targetId }) => targetId === nearest) ?? null;
}

/** Closes a dialog. `stop`: stops what shows too many, null: it has not shown too many. */
async function answer(dialog: Dialog, stop: (() => Promise<void> | undefined) | null): Promise<void> {
  // The stop is sent before the dialog is closed: otherwise the next dialog would open first.
  const stopping = stop?.();
  // The page waits for the answer, so the browser has time to stop it.
  if (stop) await pause(DIALOG_PAUSE_MS);
  const leaving = dialog.type() === 'beforeunload';
  // A dialog of a page that was closed needs no answer.
  await (leaving ? dialog.accept() : dialog.dismiss()).catch(() => undefined);
  await stopping;
}
