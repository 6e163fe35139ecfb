import type { Page } from 'playwright-core';
import type { Collector } from './collector.ts';

const FACTS = { canvas: 'canvas_reads', audio: 'audio_renders', font: 'fonts' } as const;
/** A document reports at most 1,024 reads of a trait; a tab has many frames. */
const COUNT_MAX = 1_000_000;

/** Traits that pages read to fingerprint the browser, as reported by the page scripts: counted over the documents of each tab. */
export const fingerprints: Collector = {
  name: 'fingerprints',
  start(capture) {
    const counts = new Map<Page, { canvas_reads: number; audio_renders: number; fonts: number }>();
    capture.reports.on('fingerprint', (page, [trait = '', times]) => {
      const fact = Object.hasOwn(FACTS, trait) && FACTS[trait as keyof typeof FACTS];
      if (!fact || !(Number(times) > 0) || !capture.visit.isWithoutGesture) return;
      const own = counts.get(page) ?? { canvas_reads: 0, audio_renders: 0, fonts: 0 };
      own[fact] = Math.min(COUNT_MAX, own[fact] + Math.floor(Number(times)));
      counts.set(page, own);
    });
    return (draft) => {
      for (const { page, ord, tab } of capture.landings.numbered()) {
        const facts = counts.get(page);
        if (facts) draft.observations.push({ kind: 'fingerprint', landing: ord, url: tab.url, facts });
      }
    };
  },
};
