import type { AdSignal } from '@adsweep/shared/capture/ad-block.ts';
import { registrableDomain, sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import { isOfServer } from '../session/urls.ts';
import { isOfAdServer } from './ad-servers.ts';
import { isAdSize } from './ad-sizes.ts';
import { isNative, nativeDomainsOf } from './native-widgets.ts';
import type { PageRequest } from './page-facts.ts';
import { isFrame, type NodeRef, type PageIndex } from './page-index.ts';
import { asksForVideoAd, IMA_FRAME } from './video-requests.ts';

/** An element of a page that a signal may identify as an ad, or as a part of one. */
export type Candidate = { page: PageIndex; ref: NodeRef; tag: string; attribute(name: string): string };

/** A sign in an element that it is an ad. */
export type Sign = { signal: AdSignal; tells(candidate: Candidate): boolean };

export function candidateAt(page: PageIndex, ref: NodeRef): Candidate {
  const { tag, attributes } = page.node(ref);
  return { page, ref, tag, attribute: (name) => attributes[name] ?? '' };
}

/** The addresses that a frame's element has shown, its own included; none for other elements. */
export function frameUrls({ page, ref, tag, attribute }: Candidate): string[] {
  if (!isFrame(tag)) return [];
  const inside = page.documentIn(ref);
  const source = page.resolve(ref.document, attribute('src'));
  if (inside === null) return [source];
  const own = page.requestsOf(inside).filter(({ resourceType }) => resourceType === 'document');
  return [...own.map(({ url }) => url), page.documentAt(inside).url, source];
}

/**
 * Whether an element is a frame whose document a script wrote: it has no address of its own, or after `document.open`
 * that of the document around it.
 */
function isWritten({ page, ref, tag }: Candidate): boolean {
  const inside = isFrame(tag) ? page.documentIn(ref) : null;
  if (inside === null) return false;
  const { url, isRead } = page.documentAt(inside);
  if (!isRead) return false;
  return !isOfServer(url) || url === page.documentAt(ref.document).url;
}

/** Where an element leads by a link, its own or one around it; '' = nowhere. */
export function linkOf({ page, ref, attribute }: Candidate): string {
  const own = attribute('href') || attribute('data-href') || attribute('data-url') || urlIn(attribute('onclick'));
  if (own !== '') return page.resolve(ref.document, own);
  for (let [at, level]: [NodeRef | null, number] = [page.parentOf(ref), 0]; at && level < 4; level += 1) {
    const { tag, attributes } = page.node(at);
    if (tag === 'a') return page.resolve(at.document, attributes.href ?? '');
    at = page.parentOf(at);
  }
  return '';
}

const urlIn = (script: string): string => /https?:\/\/[^'"`\s)]+/i.exec(script)?.[0] ?? '';

/** The request for what an element shows; null: there was none. */
export function requestOf({ page, ref, tag, attribute }: Candidate): PageRequest | null {
  if (tag !== 'img' && tag !== 'video' && tag !== 'embed') return null;
  return page.requestFor(page.node(ref).pictureUrl ?? page.resolve(ref.document, attribute('src')));
}

/** Whether what an element shows comes from an ad server, or an ad server's script requested it. */
function isServed(one: Candidate): boolean {
  const request = requestOf(one);
  return (request !== null && [request.url, ...request.scripts].some(isOfAdServer)) || isBesideAdScript(one);
}

/** Elements around a picture in which the script that wrote it may be. */
const SCRIPT_LEVELS_MAX = 3;

/**
 * The scripts of ad servers that are in one small element with a picture or slot which leads to another site: such
 * scripts write where they are, and Chromium does not report which script wrote markup.
 */
export function adScriptsBeside(page: PageIndex, ref: NodeRef): string[] {
  let at = page.parentOf(ref);
  for (let level = 0; at && level < SCRIPT_LEVELS_MAX; level += 1, at = page.parentOf(at)) {
    if (page.node(at).tag === 'body' || !leadsElsewhere(page, at)) return [];
    const scripts = page
      .childrenOf(at)
      .map((child) => candidateAt(page, child))
      .filter(({ tag }) => tag === 'script');
    const urls = scripts.map((script) => page.resolve(script.ref.document, script.attribute('src')));
    if (urls.some(isOfAdServer)) return urls.filter(isOfAdServer);
  }
  return [];
}

function isBesideAdScript(one: Candidate): boolean {
  const link = one.tag === 'img' ? linkOf(one) : '';
  return link !== '' && !sameSite(link, one.page.documentAt(0).url) && adScriptsBeside(one.page, one.ref).length > 0;
}

/** Whether a script of an ad server, or one it was asked for, wrote a frame's document. */
const isWrittenByAdServer = (one: Candidate): boolean => {
  const inside = one.page.documentIn(one.ref);
  if (inside === null || !isWritten(one)) return false;
  return one.page.requestsOf(inside).some(({ url, resourceType }) => resourceType === 'script' && isOfAdServer(url));
};

const BID = /\/(openrtb2?|prebid|hb|bid|bidder|bids|auction|cygnus|translator|headerbid)([/?._-]|$)/i;
/** Whether a request asks a header bidder for an ad. */
export const isBid = (request: PageRequest): boolean =>
  (request.resourceType === 'xhr' || request.resourceType === 'fetch') &&
  !asksForVideoAd(request) &&
  (isOfAdServer(request.url) || BID.test(request.url));

/** Elements that are looked at for a link. */
const LINKS_SEARCHED_MAX = 300;

/**
 * Whether a link in an element leads to another site than the page's, and none of the links in it to the page's own.
 */
export function leadsElsewhere(page: PageIndex, ref: NodeRef): boolean {
  if (!page.maySearch()) return false;
  const publisher = page.documentAt(0).url;
  let left = LINKS_SEARCHED_MAX;
  let leads = false;
  for (const at of page.within(ref)) {
    left -= 1;
    if (left === 0) break;
    const { tag, attributes } = page.node(at);
    const url = tag === 'a' ? page.resolve(at.document, attributes.href ?? '') : urlIn(attributes.onclick ?? '');
    if (!isOfServer(url)) continue;
    if (sameSite(url, publisher)) return false;
    leads = true;
  }
  return leads;
}

const SAFEFRAME_URL = /^https?:\/\/([^/]+\.safeframe\.googlesyndication\.com\/|[^?#]*\/safeframe\/)/i;

/** Each is enough for an ad block if the element shows something. */
export const SIGNS: readonly Sign[] = [
  { signal: 'ad_server_frame', tells: (one) => frameUrls(one).some(isOfAdServer) },
  {
    signal: 'google_publisher_tag',
    tells: ({ tag, attribute }) =>
      attribute('data-google-query-id') !== '' || (isFrame(tag) && /^google_ads_iframe_/.test(attribute('id'))),
  },
  {
    signal: 'adsense',
    tells: ({ tag, attribute }) =>
      tag === 'ins' && /\badsbygoogle\b/.test(attribute('class')) && attribute('data-ad-status') !== 'unfilled',
  },
  {
    signal: 'safeframe',
    tells: (one) =>
      isFrame(one.tag) &&
      (frameUrls(one).some((url) => SAFEFRAME_URL.test(url)) ||
        one.attribute('data-is-safeframe') === 'true' ||
        /"(sf_ver|hostPeerName)"|^\d+-\d+-\d+;\d+;</.test(one.attribute('name'))),
  },
  {
    signal: 'native_widget',
    tells: ({ page, ref, tag, attribute }) => {
      if (isFrame(tag) || tag === 'script') return false;
      const domains = nativeDomainsOf(attribute('id'), `${attribute('class')} ${attribute('data-type')}`);
      return domains.length > 0 && usesDomains(page, ref, domains);
    },
  },
  { signal: 'native_widget', tells: (one) => one.tag === 'a' && isNative(linkOf(one)) && isOfAdOrNative(linkOf(one)) },
  {
    signal: 'ad_server_request',
    tells: (one) =>
      isServed(one) ||
      isWrittenByAdServer(one) ||
      (!isFrame(one.tag) && (one.tag === 'a' || one.attribute('onclick') !== '') && isOfAdServer(linkOf(one))),
  },
  {
    signal: 'prebid',
    tells: (one) => {
      const box = one.page.node(one.ref).box;
      if (!isWritten(one) || !box || !isAdSize(box)) return false;
      const inside = one.page.documentIn(one.ref) as number;
      if (!leadsElsewhere(one.page, { document: inside, node: 0 })) return false;
      return one.page.facts.requests.some(isBid);
    },
  },
  { signal: 'video_ad_request', tells: isVideoAd },
];

const isOfAdOrNative = (url: string): boolean => isOfAdServer(url) || isNative(url);

/** Whether an element uses domains: in a link in it, or the page requested something of them. */
function usesDomains(page: PageIndex, ref: NodeRef, domains: readonly string[]): boolean {
  const isTheirs = (url: string) => domains.includes(registrableDomain(url));
  if (domains.some((domain) => page.requestedDomains().has(domain))) return true;
  return page.maySearch() && [...page.linksWithin(ref)].some(isTheirs);
}

/** A player that is smaller, in pixels, shows no video ad. */
const PLAYER = { width: 150, height: 80 };

/**
 * Whether an element is a player of video ads: one of Google's frames for them, or a video in a document that asked for
 * one. Of several videos in that document, those whose media were requested after it.
 */
function isVideoAd(one: Candidate): boolean {
  const { page, ref, tag } = one;
  const { box } = page.node(ref);
  if (!box || box.width < PLAYER.width || box.height < PLAYER.height) return false;
  if (isFrame(tag)) return frameUrls(one).some((url) => IMA_FRAME.test(url));
  if (tag !== 'video') return false;
  const { since, videos } = page.ofDocument(ref.document, videoAdsIn);
  if (since === null) return false;
  const media = requestOf(one);
  return videos === 1 || (media !== null && media.atMs >= since);
}

/** When a document first asked for a video ad, in Unix ms (null: it did not), and how many videos it shows. */
function videoAdsIn(page: PageIndex, document: number): { since: number | null; videos: number } {
  const requests = [...page.requestsOf(document), ...page.requestsAround(document)].filter(asksForVideoAd);
  const since = requests.reduce((first, { atMs }) => Math.min(first, atMs), Number.POSITIVE_INFINITY);
  const videos = page.documentAt(document).nodes.filter(({ tag, isShown }) => tag === 'video' && isShown).length;
  return { since: Number.isFinite(since) ? since : null, videos };
}

/** Signs that a block, once found by another, has as well. */
export const SUPPORTING: readonly {
  signal: AdSignal;
  tells(block: { urls: readonly string[]; isSized: boolean }): boolean;
}[] = [
  { signal: 'ad_server_request', tells: ({ urls }) => urls.some(isOfAdServer) },
  {
    signal: 'amazon',
    tells: ({ urls }) => urls.some((url) => /^https?:\/\/([^/]+\.)?amazon-adsystem\.com\//i.test(url)),
  },
  { signal: 'safeframe', tells: ({ urls }) => urls.some((url) => SAFEFRAME_URL.test(url)) },
  { signal: 'ad_size', tells: ({ isSized }) => isSized },
];
