import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import { REQUEST_URLS_MAX } from '@adsweep/shared/limits.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { SeenCreative } from '../harness/see-creative.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import { type Entry, emptyEntry } from '../session/journal-entry.ts';
import { asSent, clipUrl, withoutFragment } from '../session/urls.ts';
import type { Collector } from './collector.ts';
import { requestAttribution } from './request-attribution.ts';

/**
 * Every request of the capture. No single source sees all of them: only the gateway sees beacons that are sent on
 * unload. So the record is the union of what it and the browser report, counted per method and URL.
 */
export const requests: Collector = {
  name: 'requests',
  start(capture) {
    return (draft, { creative }) => {
      const { journal } = capture;
      const known = journal.sent();
      const until = journal.closedAtMs ?? Number.POSITIVE_INFINITY;
      const carried = entriesOfTraffic(draft.traffic, known).filter(({ timestampMs }) => timestampMs < until);
      for (const entry of missingIn(known, carried)) if (journal.admits(entry)) journal.add(entry);
      const entries = journal.entries();
      draft.requests = asRequests(entries, capture, creative);
      const left = Math.max(0, entries.length - REQUEST_URLS_MAX) + journal.dropped;
      if (left > 0) capture.notes.push(note('requests_beyond_limit', { count: left }));
      const unsent = entries.filter(({ fault }) => fault === GATEWAY_UNREACHED).length;
      if (unsent > 0) capture.notes.push(note('gateway', { count: unsent }));
    };
  },
};

/**
 * The error of a request if the gateway was away, such as while the proxy-router restarts: the page is not to blame for
 * what it lacks.
 */
const GATEWAY_UNREACHED = 'net::ERR_PROXY_CONNECTION_FAILED';

/** Characters of an HTTP method: pages may invent methods. */
const METHOD_LENGTH_MAX = 100;

type Called = Pick<Entry, 'method' | 'url'>;

/**
 * The requests of another source that `entries` lacks. Where it lacks some of a method and URL, these are the earliest.
 * Pure.
 */
export function missingIn<Other extends Called>(entries: Called[], others: Other[]): Other[] {
  const keyOf = ({ method, url }: Called) => `${method} ${asSent(url)}`;
  const known = Map.groupBy(entries, keyOf);
  return [...Map.groupBy(others, keyOf)].flatMap(([key, seen]) => {
    const lacking = seen.length - (known.get(key)?.length ?? 0);
    return lacking > 0 ? seen.slice(0, lacking) : [];
  });
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
  const attributionOf = requestAttribution(capture, creative);
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
      ...attributionOf(entry),
    };
  });
}
/** The gateway names the port of a tunnel always: 443, or 80 for a socket without TLS. */
const hostOf = (url: string): string => URL.parse(url)?.host.replace(/:(443|80)$/, '') ?? '';
