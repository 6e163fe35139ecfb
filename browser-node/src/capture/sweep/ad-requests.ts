import type { FoundAd } from '../discovery/found-ad.ts';
import type { Entry } from '../session/journal-entry.ts';

/** The requests of a page that belong to an ad: its own, or all of the tab that it opened. Pure. */
export function requestsOfAd(entries: readonly Entry[], ad: FoundAd): Entry[] {
  const { targetId } = ad.tab.tab.session;
  return entries.filter((entry) => (ad.element === null ? entry.tab === targetId : ad.ownsRequest(entry)));
}

/**
 * Whether a request is left to the record of one of `ads`. Document requests of tabs are not: the page's capture shows
 * all tabs that it opened, with the way that each took. Pure.
 */
export const isRequestOfAds = (entry: Entry, ads: readonly FoundAd[]): boolean =>
  entry.hop === null && ads.some((ad) => ad.ownsRequest(entry));
