import type { CapturedHop } from '@adsweep/shared/capture/hop.ts';
import { HOPS_MAX } from '../session/budgets.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { Collector } from './collector.ts';
import { creativeDocuments } from './request-attribution.ts';

/** The redirect chain of each landing, and of the document that shows the creative. */
export const redirectChain: Collector = {
  name: 'redirect_chain',
  start:
    (capture) =>
    (draft, { creative }) => {
      for (const landing of draft.landings) {
        const tab = capture.landings.all.find(({ ord }) => ord === landing.ord)?.tab;
        if (tab)
          landing.redirect_chain = chainOf(capture.landings.landingHops(capture.journal, tab), capture.startedAtMs);
      }
      if (draft.creative && creative) {
        const documents = creativeDocuments(capture, creative);
        const madeNone = documents.length < 2 && !draft.requests.some(({ surface }) => surface === 'creative');
        draft.creative.redirect_chain = madeNone ? [] : chainOf(documents, capture.startedAtMs);
      }
    },
};

/** The redirect chain of a tab's navigations. Pure. */
export function chainOf(navigations: Entry[], startedAtMs: number): CapturedHop[] {
  return navigations.slice(0, HOPS_MAX).map((entry, index) => ({
    url: entry.url,
    kind: index === 0 ? 'initial' : (entry.hop ?? (entry.isRedirect ? 'http' : 'other')),
    status_code: entry.statusCode,
    content_type: entry.contentType,
    body_size: entry.bodySize,
    timestamp_ms: Math.max(0, Math.round(entry.timestampMs - startedAtMs)),
    redirected_from: navigations[index - 1]?.url ?? '',
  }));
}
