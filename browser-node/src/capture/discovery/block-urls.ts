import type { AdSignal } from '@adsweep/shared/capture/ad-block.ts';
import { sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import { isOfServer } from '../session/urls.ts';
import { adServerName } from './ad-servers.ts';
import type { PageRequest } from './page-facts.ts';
import type { NodeRef, PageIndex } from './page-index.ts';
import { adScriptsBeside, candidateAt, frameUrls, isBid, linkOf, requestOf } from './signals.ts';
import { asksForVideoAd } from './video-requests.ts';

/** Elements of a slot that are looked at for what they request. */
const NODES_SEARCHED_MAX = 500;
/** Google's ad server, asked for what a slot shows. */
const GOOGLE_SLOT = /^https?:\/\/[^/]+\/gampad\/ads\b/i;

/**
 * What led to the ad in a slot, in this order: the request that filled it, the addresses of its outermost frame, then
 * the requests of its frames and for its pictures by time, each after the scripts that caused it, then where its links
 * lead. Pure.
 */
export function urlsOf(
  page: PageIndex,
  slot: NodeRef,
  documents: readonly number[],
  signals: ReadonlySet<AdSignal>,
): string[] {
  const elements = requestsIn(page, slot);
  const requests = [...new Set([...documents.flatMap((document) => page.requestsOf(document)), ...elements])];
  const asked = signals.has('google_publisher_tag')
    ? page.facts.requests.filter(({ url }) => GOOGLE_SLOT.test(url))
    : [];
  const video = signals.has('video_ad_request') ? page.facts.requests.filter(asksForVideoAd) : [];
  const isServed = (url: string) => adServerName(url) !== null;
  const links = [...page.linksWithin(slot), linkOf(candidateAt(page, slot))];
  const own = requests
    .toSorted((a, b) => a.atMs - b.atMs)
    .flatMap(({ url, scripts }) => [...scripts.toReversed().filter(isServed), url]);
  const scripts = requests
    .flatMap(({ url, resourceType, scripts }) => [...scripts.toReversed(), ...(resourceType === 'script' ? [url] : [])])
    .filter(isServed);
  const frame = outermostFrame(page, slot);
  const publisher = page.documentAt(0).url;
  const isWritten = !frame.some((url) => isOfServer(url) && !sameSite(url, publisher));
  return [
    ...asked.slice(0, 1).map(({ url }) => url),
    ...frame,
    ...video.slice(0, 1).map(({ url }) => url),
    ...(isWritten && asked.length === 0 ? bidFor(page, [...own, ...links], signals.has('prebid')) : []),
    // Outside of frames, the script that wrote the ad and the links that a click follows say more about its network
    // than the host of its pictures.
    ...(documents.length === 0 ? [...adScriptsBeside(page, slot), ...scripts, ...links.filter(isServed)] : []),
    ...own,
    ...links.filter(isServed),
  ].filter((url) => url !== '');
}

/**
 * The header bid that an ad without an address won: that of a network which the ad itself uses, else, if it is
 * `certain` that it is one, the last.
 */
function bidFor(page: PageIndex, urls: readonly string[], isCertain: boolean): string[] {
  const bids = page.facts.requests.filter((request) => isBid(request) && adServerName(request.url) !== null);
  const names = new Set(urls.map(adServerName));
  const won = bids.find(({ url }) => names.has(adServerName(url))) ?? (isCertain ? bids.at(-1) : undefined);
  return won ? [won.url] : [];
}

/** The addresses of the first frame in a slot; none if what the slot shows is not in a frame. */
function outermostFrame(page: PageIndex, slot: NodeRef): string[] {
  let left = NODES_SEARCHED_MAX;
  for (const ref of page.within(slot)) {
    const urls = frameUrls(candidateAt(page, ref));
    if (urls.length > 0) return urls;
    left -= 1;
    if (left === 0) break;
  }
  return [];
}

/** The requests for the pictures, videos and scripts in a slot. */
function requestsIn(page: PageIndex, slot: NodeRef): PageRequest[] {
  const requests: PageRequest[] = [];
  let left = NODES_SEARCHED_MAX;
  for (const ref of page.within(slot)) {
    const { tag, attributes } = page.node(ref);
    const script = tag === 'script' ? page.requestFor(page.resolve(ref.document, attributes.src ?? '')) : null;
    const request = script ?? requestOf(candidateAt(page, ref));
    if (request) requests.push(request);
    left -= 1;
    if (left === 0) break;
  }
  return requests;
}

/** The scripts of ad servers that requested what a slot shows outside of frames. Pure. */
export function writtenBy(page: PageIndex, slot: NodeRef): string[] {
  const own = requestsIn(page, slot).filter(({ frameId }) => frameId === page.documentAt(slot.document).frameId);
  const scripts = own.flatMap((request) => [
    request.url,
    ...request.scripts.filter((one) => adServerName(one) !== null),
  ]);
  return [...new Set([...scripts, ...adScriptsBeside(page, slot)])];
}
