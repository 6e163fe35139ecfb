import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { rootOf, type TargetSession } from '../devtools/devtools.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { NumberedTab } from '../session/landings.ts';
import { plainText } from '../session/plain-text.ts';
import { clipUrl, urlKey } from '../session/urls.ts';
import type { Collector } from './collector.ts';

/** Downloads of one capture that are kept. */
const DOWNLOADS_MAX = 5;
const FILE_NAME_LENGTH_MAX = 300;

/** Files that documents and their frames began to download without a click. Their contents are not kept. */
export const autoDownload: Collector = {
  name: 'auto_download',
  start(capture) {
    const downloads = new Map<
      string,
      { tab: TargetSession; frameId: string; facts: ObservationOf<'auto_download'>['facts'] }
    >();
    capture.devtools.on('Page.downloadWillBegin', ({ guid, url, suggestedFilename, frameId }, session) => {
      if (downloads.size >= DOWNLOADS_MAX || !capture.visit.isUnprompted(frameId)) return;
      const file_name = plainText(suggestedFilename).slice(0, FILE_NAME_LENGTH_MAX);
      downloads.set(guid, { tab: rootOf(session), frameId, facts: { file_url: clipUrl(url), file_name } });
    });
    return (draft) => {
      const placed = capture.landings.numbered().filter(({ tab }) => tab.committed);
      const shown = shownByViewers(capture.journal.all());
      for (const { tab, frameId, facts } of downloads.values()) {
        if (shown.has(urlKey(facts.file_url))) continue;
        // A tab that only ever got a file shows no page; the page that opened it started the download.
        const landing = [tab.targetId, tab.openerId]
          .map((id) => placed.find((one) => one.tab.session.targetId === id))
          .find((one) => one !== undefined);
        if (!landing) continue;
        const at = { landing: landing.ord, url: landing.tab.url };
        draft.observations.push({ kind: 'auto_download', ...at, frameId: starterOf(landing, tab, frameId), facts });
      }
    };
  },
};

/**
 * The documents that browsers show and headless Chromium, which has no PDF viewer, downloads; by their `urlKey`.
 */
const shownByViewers = (entries: readonly Entry[]): ReadonlySet<string> =>
  new Set(
    entries
      .filter(({ contentType, attachment }) => !attachment && /^\s*(application|text)\/pdf\b/i.test(contentType))
      .map(({ url }) => urlKey(url)),
  );

/** The frame that started a download; of a tab that was opened for it, the frame that opened the tab. */
const starterOf = (landing: NumberedTab, tab: TargetSession, frameId: string): string =>
  landing.tab.session === tab ? frameId : tab.openerFrameId;
