import { type Entry, lastOf, ORB_BLOCKED } from '../session/journal-entry.ts';
import type { NetworkJournal } from '../session/network-journal.ts';
import { urlKey } from '../session/urls.ts';

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

/** A tracker as far as it was requested. */
type Requested = { requested_url: string; requested_at_ms: number | null };

/**
 * The request of each tracker that was requested, undefined = the browser made none. Each request is that of one
 * tracker: a URL that two trackers have is requested twice. Page loads and redirects are not trackers' requests. Pure.
 */
export function requestsOfTrackers<T extends Requested>(
  trackers: readonly T[],
  entries: readonly Entry[],
): Map<T, Entry | undefined> {
  const left = Map.groupBy(
    entries.filter(({ resourceType, isRedirect }) => resourceType !== 'document' && !isRedirect),
    ({ url }) => urlKey(url),
  );
  const requested = trackers.filter(({ requested_at_ms }) => requested_at_ms !== null);
  const inOrder = requested.toSorted((a, b) => Number(a.requested_at_ms) - Number(b.requested_at_ms));
  return new Map(inOrder.map((tracker) => [tracker, left.get(urlKey(tracker.requested_url))?.shift()]));
}

/** Whether a response came for a request, over its redirects, or none will. */
export function hasEnded(entry: Entry): boolean {
  const { statusCode, fault, isStopped } = lastOf(entry);
  // The status of a response that the browser blocks is reported after its failure.
  return statusCode > 0 || isStopped || (fault !== '' && fault !== ORB_BLOCKED);
}
