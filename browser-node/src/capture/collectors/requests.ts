import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import { REQUEST_URLS_MAX } from '@adsweep/shared/limits.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Request } from 'playwright-core';
import type { SeenCreative } from '../harness/see-creative.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import { type Entry, emptyEntry } from '../session/journal-entry.ts';
import { clipUrl, withoutFragment } from '../session/urls.ts';
import type { Collector } from './collector.ts';
import { requestPlaces } from './request-places.ts';

/**
 * Every request of the capture. No single source sees all of them: the second client misses first requests of frames, workers and tabs that
 * just after these start, Playwright does not report shared workers, and only the gateway sees beacons that are sent on unload. So the
 * record is their union, counted per method and URL.
 */
export const requests: Collector = {
  name: 'requests',
  start(capture) {
    const seen = new Set<Seen>();
    capture.listeners.on('request', (request) => {
      if (seen.size >= REQUEST_URLS_MAX || capture.journal.closedAtMs !== null) return;
      // blob: URLs are inside the page.
      if (request.url().startsWith('blob:')) return;
      seen.add({ request, atMs: Date.now(), method: request.method(), url: clipUrl(request.url()) });
    });
    return (draft, { creative }) => {
      const { journal, tabs } = capture;
      const byPage = new Map(tabs.all.map(({ page, tab }) => [page, tab.session.targetId]));
      const add = (entry: Entry) => {
        if (journal.admits(entry)) journal.add(entry);
      };
      for (const one of missingIn(journal.all(), [...seen])) add(entryOfSeen(one, (page) => byPage.get(page) ?? null));
      const known = journal.sent();
      const until = journal.closedAtMs ?? Number.POSITIVE_INFINITY;
      const carried = entriesOfTraffic(draft.traffic, known).filter(({ timestampMs }) => timestampMs < until);
      for (const entry of missingIn(known, carried)) add(entry);
      const entries = journal.entries();
      draft.requests = asRequests(entries, capture, creative);
      const left = Math.max(0, entries.length - REQUEST_URLS_MAX) + journal.dropped;
      if (left > 0) capture.notes.push(note('requests_beyond_limit', { count: left }));
    };
  },
};

/** Characters of an HTTP method: pages may invent methods. */
const METHOD_LENGTH_MAX = 100;

type Called = Pick<Entry, 'method' | 'url'>;
type Seen = Called & { request: Request; atMs: number };
type PageOf = NonNullable<ReturnType<ReturnType<Request['frame']>['page']>>;

/** The requests of another source that `entries` lacks: CDP attaches late, so they are the first of each method and URL. Pure. */
export function missingIn<Other extends Called>(entries: Called[], others: Other[]): Other[] {
  const keyOf = ({ method, url }: Called) => `${method} ${withoutFragment(url)}`;
  const known = Map.groupBy(entries, keyOf);
  return [...Map.groupBy(others, keyOf)].flatMap(([key, seen]) => {
    const lacking = seen.length - (known.get(key)?.length ?? 0);
    return lacking > 0 ? seen.slice(0, lacking) : [];
  });
}

function entryOfSeen({ request, atMs, method, url }: Seen, tabOf: (page: PageOf) => string | null): Entry {
  const response = request.existingResponse();
  return {
    ...emptyEntry(url, method, request.timing().startTime > 0 ? request.timing().startTime : atMs),
    resourceType: request.resourceType(),
    statusCode: response?.status() ?? 0,
    ...placeOf(request, tabOf),
  };
}

function placeOf(request: Request, tabOf: (page: PageOf) => string | null): Pick<Entry, 'tab' | 'hop'> {
  try {
    const frame = request.frame();
    const isOwn = request.isNavigationRequest() && frame.parentFrame() === null;
    const hop = isOwn ? (request.redirectedFrom() ? 'http' : 'other') : null;
    return { tab: tabOf(frame.page()), hop };
  } catch {
    // Service workers have no frame, and a tab's first navigation has none yet.
    return { tab: null, hop: null };
  }
}

/** The gateway's traffic: http requests in full, https by host only, and only for hosts that no other source saw. */
function entriesOfTraffic(traffic: TicketTraffic | null, entries: Entry[]): Entry[] {
  const hosts = new Set(entries.map(({ url }) => hostOf(url)));
  return (traffic?.requests ?? []).flatMap(({ method, url, at_ms }) => {
    if (method !== 'CONNECT') return [emptyEntry(clipUrl(url), method, at_ms)];
    return hosts.has(hostOf(url)) ? [] : [emptyEntry(clipUrl(url), 'GET', at_ms)];
  });
}

function asRequests(entries: Entry[], capture: MemberCapture, creative?: SeenCreative): NetworkRequest[] {
  const placeOf = requestPlaces(capture, creative);
  const lastOfUrl = new Map<string, number>();
  const sent = entries.filter((entry) => entry.hop === null || entry.url !== capture.publisherUrl);
  return sent.slice(0, REQUEST_URLS_MAX).map((entry, id) => {
    const initiator = lastOfUrl.get(withoutFragment(entry.initiatorUrl)) ?? null;
    lastOfUrl.set(withoutFragment(entry.url), id);
    return {
      id,
      url: entry.url,
      method: entry.method.slice(0, METHOD_LENGTH_MAX),
      resource_type: entry.resourceType,
      status_code: entry.statusCode,
      content_type: entry.contentType,
      body_size: entry.bodySize,
      timestamp_ms: Math.max(0, Math.round(entry.timestampMs - capture.startedAtMs)),
      initiator,
      ...placeOf(entry),
    };
  });
}
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host.replace(/:443$/, '') : '');
