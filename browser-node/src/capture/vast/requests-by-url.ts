import { type Entry, lastOf } from '../session/journal-entry.ts';
import type { NetworkJournal } from '../session/network-journal.ts';
import { clipUrl } from '../session/urls.ts';

/** Comparison key of a URL, without scheme and fragment: Chromium upgrades http images and media of an https page to https. Pure. */
const urlKey = (url: string): string => (clipUrl(url).split('#')[0] as string).replace(/^https?:/i, '');

/** The last request for a URL; undefined: there was none. */
export function lastRequest(journal: Pick<NetworkJournal, 'entries'>, url: string): Entry | undefined {
  const key = urlKey(url);
  return journal.entries().findLast((entry) => urlKey(entry.url) === key);
}

/** The end of the redirects of the last request for a URL. */
export function lastResponse(journal: Pick<NetworkJournal, 'entries'>, url: string): Entry | undefined {
  const first = lastRequest(journal, url);
  return first && lastOf(first);
}

/** Hands out the requests for each URL in order, each once: a URL that two trackers have is requested twice. Pure. */
export function requestsInOrder(entries: readonly Entry[]): (url: string) => Entry | undefined {
  const left = Map.groupBy(entries, ({ url }) => urlKey(url));
  return (url) => left.get(urlKey(url))?.shift();
}
