import type { VastOutcome } from '@adsweep/shared/capture/vast.ts';
import { VAST_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { readVast } from '@adsweep/shared/vast/read-vast.ts';
import type { VastAd, VastDocument, VastWrapper } from '@adsweep/shared/vast/vast-document.ts';
import { parseXml } from '@adsweep/shared/vast/xml.ts';
import { isOfServer } from '../session/urls.ts';
import type {
  ChainAd,
  ChainDocument,
  DocumentFault,
  ErrorUrls,
  FetchedDocument,
  Resolution,
  ResolvedAd,
} from './wrapper-chain.ts';

/** The most wrappers in a row (VAST 4.3, 2.3.5.1). */
const WRAPPERS_MAX = 5;
/** The most documents of one tag, waterfalls and pods included. */
const DOCUMENTS_MAX = 20;
/** The most ads of a pod that are resolved. */
const ADS_MAX = 10;
/** After so many failed branches no other wrapper is followed. */
const FAILED_BRANCHES_MAX = 50;

/** Codes of VAST 4.3, 2.3.6.3. */
const CODES: Record<DocumentFault, number> = {
  no_ad: 303,
  invalid: 100,
  too_large: 100,
  refused: 301,
  unanswered: 301,
  loop: 302,
  limit: 302,
  not_followed: 300,
};

export type FetchDocument = (url: string) => Promise<FetchedDocument>;

/**
 * Follows the wrappers of a VAST tag as a player does (VAST 4.3, 2.3.5, 3.3.1, 3.19), one document at a time: pods in
 * sequence, stand-alone ads as a waterfall, within the limits that each wrapper sets. `root` is the tag's own document,
 * fetched or given by the client.
 */
export async function unwrap(root: FetchedDocument, fetchDocument: FetchDocument): Promise<Resolution> {
  const walk = new ChainWalk(fetchDocument);
  const ads = await walk.resolveDocument(walk.add(root, root.url, null, 0), []);
  const { chain, adsLeftOut, errors } = walk;
  return { chain, ads, adsLeftOut, errors, failure: ads.length > 0 ? null : walk.failure };
}

class ChainWalk {
  readonly chain: ChainDocument[] = [];
  readonly errors: Resolution['errors'] = [];
  adsLeftOut = 0;
  /** Why the first branch failed that did. */
  failure: DocumentFault | null = null;
  readonly #fetch: FetchDocument;
  /** The error URLs of each ad that was followed. */
  readonly #errorUrls = new Map<VastAd, ErrorUrls>();

  constructor(fetchDocument: FetchDocument) {
    this.#fetch = fetchDocument;
  }

  /** Parses a document and appends it to the chain; returns its index. */
  add(fetched: FetchedDocument, requestedUrl: string, parent: number | null, depth: number): number {
    const root = parseXml(fetched.text);
    const vast = root && readVast(root);
    const outcome = outcomeOf(fetched, vast);
    return this.chain.push({ parent, depth, requestedUrl, outcome, fetched, root, vast }) - 1;
  }

  /**
   * The ads of a document to play; where there are none, the failure is recorded. `wrappers`: those that point to the
   * document.
   */
  async resolveDocument(document: number, wrappers: ChainAd[]): Promise<ResolvedAd[]> {
    const { outcome, vast } = this.chain[document] as ChainDocument;
    if (outcome !== 'ads' || !vast) {
      this.#fail(outcome === 'ads' ? 'invalid' : outcome, wrappers, vast ? { document, urls: vast.errors } : null);
      return [];
    }
    this.adsLeftOut += vast.adsLeftOut;
    const ads = allowedAds(vast, wrappers.at(-1)?.ad.wrapper ?? null);
    const pod = ads.filter(({ sequence }) => sequence !== null).sort((a, b) => Number(a.sequence) - Number(b.sequence));
    const alone = ads.filter(({ sequence }) => sequence === null);
    const played = await this.#resolvePod(document, pod, alone, wrappers);
    return played.length > 0 ? played : this.#resolveWaterfall(document, alone, wrappers);
  }

  /**
   * All ads of a pod in sequence; a wrapper without an ad is replaced by a stand-alone ad if it allows that
   * (`fallbackOnNoAd`).
   */
  async #resolvePod(document: number, pod: VastAd[], alone: VastAd[], wrappers: ChainAd[]): Promise<ResolvedAd[]> {
    const played: ResolvedAd[] = [];
    for (const [at, ad] of pod.entries()) {
      const found = await this.#resolveAd({ document, ad }, wrappers);
      const mayReplace = found.length === 0 && ad.wrapper?.fallbackOnNoAd === true;
      const spare = mayReplace ? alone.shift() : undefined;
      played.push(...found, ...(spare ? await this.#resolveAd({ document, ad: spare }, wrappers) : []));
      if (played.length < ADS_MAX) continue;
      this.adsLeftOut += played.length - ADS_MAX + (pod.length - at - 1);
      break;
    }
    return played.slice(0, ADS_MAX);
  }

  /** The first stand-alone ad that has something to show, else the first that resolves to an inline ad. */
  async #resolveWaterfall(document: number, alone: VastAd[], wrappers: ChainAd[]): Promise<ResolvedAd[]> {
    let empty: ResolvedAd[] = [];
    for (const ad of alone) {
      const found = await this.#resolveAd({ document, ad }, wrappers);
      if (found.some((one) => isShowable(one.ad))) return found;
      if (empty.length === 0) empty = found;
    }
    return empty;
  }

  async #resolveAd(from: ChainAd, wrappers: ChainAd[]): Promise<ResolvedAd[]> {
    const { wrapper } = from.ad;
    if (!wrapper) return [{ ...from, wrappers }];
    if (this.errors.length >= FAILED_BRANCHES_MAX) {
      this.adsLeftOut += 1;
      return [];
    }
    const chain = [...wrappers, from];
    if (wrappers.at(-1)?.ad.wrapper?.followAdditionalWrappers === false) return this.#fail('not_followed', chain);
    const url = resolveUrl(wrapper.uri, this.chain[from.document]?.fetched?.url ?? '');
    const refusal = wrapper.uri === '' ? 'invalid' : this.#refusal(url, chain);
    if (refusal || url === null) {
      this.chain.push({
        ...NOT_FETCHED,
        parent: from.document,
        depth: chain.length,
        requestedUrl: url ?? wrapper.uri,
        outcome: refusal ?? 'refused',
      });
      return this.#fail(refusal ?? 'refused', chain);
    }
    const next = this.add(await this.#fetch(url), url, from.document, chain.length);
    return this.resolveDocument(next, chain);
  }

  /** Why the document that a wrapper points to is not requested; null: it is. */
  #refusal(url: string | null, wrappers: ChainAd[]): DocumentFault | null {
    if (url === null) return 'refused';
    const seen = wrappers.map(({ document }) => this.chain[document] as ChainDocument);
    if (seen.some(({ requestedUrl, fetched }) => requestedUrl === url || fetched?.url === url)) return 'loop';
    return wrappers.length > WRAPPERS_MAX || this.chain.length >= DOCUMENTS_MAX ? 'limit' : null;
  }

  /** Records the error URLs of a failed branch: those of its wrappers and, of a document without an ad, its own. */
  #fail(why: DocumentFault, wrappers: ChainAd[], own: ErrorUrls | null = null): [] {
    this.failure ??= why;
    const ofWrappers = wrappers.map((wrapper) => this.#errorUrlsOf(wrapper));
    this.errors.push({ code: CODES[why], lists: own ? [own, ...ofWrappers] : ofWrappers });
    return [];
  }

  #errorUrlsOf({ document, ad }: ChainAd): ErrorUrls {
    const known = this.#errorUrls.get(ad);
    if (known) return known;
    const urls = ad.trackers.filter(({ event }) => event === 'error').map(({ url }) => url);
    const found = { document, urls };
    this.#errorUrls.set(ad, found);
    return found;
  }
}

const NOT_FETCHED = { fetched: null, root: null, vast: null };

/**
 * Faults that another attempt would have too: a private address, mixed content, a redirect loop or a redirect to a URL
 * that is not http(s).
 */
const NEVER_ANSWERED =
  /private_address$|ERR_BLOCKED_BY_MIXED_CONTENT|ERR_TOO_MANY_REDIRECTS|ERR_UNSAFE_REDIRECT|ERR_INVALID_REDIRECT/;

/** The outcome of a document by its response and its text. Many servers send an empty response when they have no ad. */
function outcomeOf({ statusCode, fault, text }: FetchedDocument, vast: VastDocument | null): VastOutcome {
  if (NEVER_ANSWERED.test(fault)) return 'refused';
  if (fault !== '' || statusCode >= 500) return 'unanswered';
  if (statusCode >= 400) return 'refused';
  if (text.trim() === '') return 'no_ad';
  if (!vast) return text.length > VAST_LENGTH_MAX ? 'too_large' : 'invalid';
  return vast.ads.length > 0 ? 'ads' : 'no_ad';
}

/**
 * Without `allowMultipleAds`, only the first stand-alone ad, or the first ad where none is stand-alone (VAST 4.3,
 * 3.19).
 */
function allowedAds({ ads }: VastDocument, wrapper: VastWrapper | null): VastAd[] {
  if (!wrapper || wrapper.allowMultipleAds === true) return ads;
  const first = ads.find(({ sequence }) => sequence === null) ?? ads[0];
  return first ? [first] : [];
}

/** Whether an ad has a media file or a nonlinear resource. */
const isShowable = ({ linears, nonLinears }: VastAd): boolean =>
  linears.some(({ mediaFiles, interactiveFiles }) => mediaFiles.length + interactiveFiles.length > 0) ||
  nonLinears.some(({ resources }) => resources.length > 0);

/** An http(s) URL as the document at `base` means it, without its fragment; null for any other. */
function resolveUrl(text: string, base: string): string | null {
  const url = URL.parse(text, base || undefined);
  if (!url || !isOfServer(url.href)) return null;
  url.hash = '';
  return url.href;
}
