import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { STORED_SUB_REQUESTS_MAX } from '@adsweep/shared/limits.ts';
import { hopDocumentsOf } from './hop-documents.ts';

/** What tells most about a page comes first (browsers' own words for the types, of Playwright and of the DevTools protocol). */
const RANKS: Record<string, number> = {
  document: 0,
  script: 1,
  fetch: 2,
  xhr: 2,
  eventsource: 2,
  websocket: 2,
  ping: 3,
  beacon: 3,
  other: 4,
  preflight: 4,
  manifest: 4,
  image: 5,
  font: 6,
  stylesheet: 7,
  media: 8,
  texttrack: 8,
};
const RANK_OF_OTHERS = 4;

/** The requests that are stored with a scan, in their own order: those of its hops, and of the others all when there are few, else those that tell most (spec 8). */
export function chooseStored(capture: Capture, max = STORED_SUB_REQUESTS_MAX): NetworkRequest[] {
  const { requests } = capture;
  const ofHops = hopDocumentsOf(capture);
  const others = requests.filter((request) => !ofHops.has(request));
  if (others.length <= max) return requests;
  const ranked = others.map((request) => ({
    request,
    rank: RANKS[request.resource_type.toLowerCase()] ?? RANK_OF_OTHERS,
  }));
  const chosen = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, max);
  const stored = new Set([...ofHops, ...chosen.map(({ request }) => request)]);
  return requests.filter((request) => stored.has(request));
}
