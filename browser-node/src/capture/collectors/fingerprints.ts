import type { Page } from 'playwright-core';
import type { Collector } from './collector.ts';

const FACTS = { canvas: 'canvas_reads', audio: 'audio_renders', font: 'fonts' } as const;
type Counts = { canvas_reads: number; audio_renders: number; fonts: number };
/** A document reports at most 1,024 reads of a trait; a tab has many frames. */
const COUNT_MAX = 1_000_000;

/**
 * Traits that pages read to fingerprint the browser, as reported by the page scripts: counted over the documents of
 * each frame.
 */
export const fingerprints: Collector = {
  name: 'fingerprints',
  start(capture) {
    const counts = new Map<Page, Map<string | null, Counts>>();
    capture.reports.on('fingerprint', (page, [trait = '', times], frameId) => {
      const fact = Object.hasOwn(FACTS, trait) && FACTS[trait as keyof typeof FACTS];
      if (!fact || !(Number(times) > 0) || !capture.visit.isUnprompted(frameId)) return;
      const byFrame = counts.get(page) ?? new Map<string | null, Counts>();
      const own = byFrame.get(frameId) ?? { canvas_reads: 0, audio_renders: 0, fonts: 0 };
      own[fact] = Math.min(COUNT_MAX, own[fact] + Math.floor(Number(times)));
      counts.set(page, byFrame.set(frameId, own));
    });
    return (draft) => {
      for (const { page, ord, tab } of capture.landings.numbered()) {
        for (const [frameId, facts] of counts.get(page) ?? [])
          draft.observations.push({ kind: 'fingerprint', landing: ord, url: tab.url, facts, frameId });
      }
    };
  },
};
