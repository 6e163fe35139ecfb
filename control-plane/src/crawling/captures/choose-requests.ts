import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { STORED_SUB_REQUESTS_MAX } from '@adsweep/shared/limits.ts';

/** Ranks of resource types (names of Playwright and of the DevTools protocol): lower ones say more about a page. */
const RANKS = new Map<string, number>(
  Object.entries({
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
  }),
);
const RANK_OF_OTHERS = 4;

/**
 * Chooses the requests that are stored with a capture, in order: the documents of its hops, and up to `max` others by
 * rank (spec 8).
 */
export function chooseStored(capture: Capture, max = STORED_SUB_REQUESTS_MAX): NetworkRequest[] {
  const { requests } = capture;
  const ofHops = hopDocumentsOf(capture);
  const others = requests.filter((request) => !ofHops.has(request));
  if (others.length <= max) return requests;
  const ranked = others.map((request) => ({
    request,
    rank: RANKS.get(request.resource_type.toLowerCase()) ?? RANK_OF_OTHERS,
  }));
  const chosen = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, max);
  const stored = new Set([...ofHops, ...chosen.map(({ request }) => request)]);
  return requests.filter((request) => stored.has(request));
}

/**
 * The requests of a capture's hops themselves. A hop contains its own request, which is therefore not a sub-request and
 * does not count towards the limit of stored requests (spec 8: main-frame hops plus up to 200 sub-requests).
 */
export function hopDocumentsOf({ requests, landings, creative }: Capture): ReadonlySet<NetworkRequest> {
  const chains = new Map(landings.map(({ ord, redirect_chain }) => [String(ord), redirect_chain]));
  if (creative) chains.set('creative', creative.redirect_chain);
  const ofHops = new Map<string, NetworkRequest>();
  for (const request of requests) {
    const { url, resource_type, landing, hop, surface } = request;
    if (hop === null || resource_type.toLowerCase() !== 'document') continue;
    const owner = surface === 'creative' ? surface : String(landing);
    const document = chains.get(owner)?.[hop];
    if (!document || withoutFragment(document.url) !== withoutFragment(url)) continue;
    // The first one is the hop's own. A later one, such as that of a frame with the URL of its page, is a sub-request.
    const key = `${owner}:${hop}`;
    if (!ofHops.has(key)) ofHops.set(key, request);
  }
  return new Set(ofHops.values());
}

const withoutFragment = (url: string): string => url.split('#')[0] as string;
