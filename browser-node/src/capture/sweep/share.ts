import type { FoundAd } from '../discovery/found-ad.ts';
import type { Entry } from '../session/journal-entry.ts';

/** The requests of a page that belong to an ad: its own, or all of the tab that it opened. Pure. */
export function requestsOfAd(entries: readonly Entry[], ad: FoundAd): Entry[] {
  const { targetId } = ad.tab.tab.session;
  return entries.filter((entry) => (ad.element === null ? entry.tab === targetId : ad.ownsRequest(entry)));
}
