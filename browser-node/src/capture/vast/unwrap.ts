import type { VastOutcome } from '@adsweep/shared/capture/vast.ts';
import { VAST_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { readVast } from '@adsweep/shared/vast/read-vast.ts';
import type { VastAd, VastDocument, VastWrapper } from '@adsweep/shared/vast/vast-document.ts';
import { parseXml } from '@adsweep/shared/vast/xml.ts';
import {
  type AdAt,
  type DocumentFault,
  type FetchedDocument,
  isShowable,
  type Resolution,
  type ResolvedAd,
  type Rung,
} from './resolution.ts';

/** Wrappers in a row (VAST 4.3, 2.3.5.1). */
const WRAPPERS_MAX = 5;
/** Documents of one tag, waterfalls and pods included. */
const DOCUMENTS_MAX = 20;
/** Ads of a pod that are resolved. */
const ADS_MAX = 10;

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
 * Follows a VAST tag down its wrappers, one document at a time, as a player would (VAST 4.3, 2.3.5, 3.3.1, 3.19): pods in their order,
 * stand-alone ads as a waterfall, the wrappers' own rules kept. `root` is the tag itself, fetched or as it was given.
 */
export async function unwrap(root: FetchedDocument, fetchDocument: FetchDocument): Promise<Resolution> {
  const ladder = new Ladder(fetchDocument);
  const ads = await ladder.resolveDocument(ladder.add(root, root.url, null, 0), []);
  const { rungs, adsLeftOut, errors } = ladder;
  return { rungs, ads, adsLeftOut, errors, failure: ads.length > 0 ? null : ladder.failure };
}

class Ladder {
  readonly rungs: Rung[] = [];
  readonly errors: Resolution['errors'] = [];
  adsLeftOut = 0;
  /** Why the first branch that failed did. */
  failure: DocumentFault | null = null;
  readonly #fetch: FetchDocument;

  constructor(fetchDocument: FetchDocument) {
    this.#fetch = fetchDocument;
  }

  /** Writes down a document; answers its number. */
  add(fetched: FetchedDocument, requestedUrl: string, parent: number | null, depth: number): number {
    const root = parseXml(fetched.text);
    const document = root && readVast(root);
    const outcome = outcomeOf(fetched, document);
    return this.rungs.push({ parent, depth, requestedUrl, outcome, fetched, root, document }) - 1;
  }

  /** The ads to play of the document of a rung; none where nothing came of it, which is then told. */
  async resolveDocument(rung: number, wrappers: AdAt[]): Promise<ResolvedAd[]> {
    const { outcome, document } = this.rungs[rung] as Rung;
    if (outcome !== 'ads' || !document) {
      this.#fail(outcome === 'ads' ? 'invalid' : outcome, wrappers, document ? { rung, urls: document.errors } : null);
      return [];
    }
    this.adsLeftOut += document.adsLeftOut;
    const ads = allowedAds(document, wrappers.at(-1)?.ad.wrapper ?? null);
    const pod = ads.filter(({ sequence }) => sequence !== null).sort((a, b) => Number(a.sequence) - Number(b.sequence));
    const alone = ads.filter(({ sequence }) => sequence === null);
    const played = await this.#resolvePod(rung, pod, alone, wrappers);
    return played.length > 0 ? played : this.#resolveWaterfall(rung, alone, wrappers);
  }

  /** Each ad in its turn; one that comes to nothing is replaced by a stand-alone ad where its wrapper says so. */
  async #resolvePod(rung: number, pod: VastAd[], alone: VastAd[], wrappers: AdAt[]): Promise<ResolvedAd[]> {
    const played: ResolvedAd[] = [];
    for (const [at, ad] of pod.entries()) {
      const found = await this.#resolveAd({ rung, ad }, wrappers);
      const mayReplace = found.length === 0 && ad.wrapper?.fallbackOnNoAd === true;
      const spare = mayReplace ? alone.shift() : undefined;
      played.push(...found, ...(spare ? await this.#resolveAd({ rung, ad: spare }, wrappers) : []));
      if (played.length < ADS_MAX) continue;
      this.adsLeftOut += played.length - ADS_MAX + (pod.length - at - 1);
      break;
    }
    return played.slice(0, ADS_MAX);
  }

  /** The first stand-alone ad that has something to show, else the first that is there at all. */
  async #resolveWaterfall(rung: number, alone: VastAd[], wrappers: AdAt[]): Promise<ResolvedAd[]> {
    let empty: ResolvedAd[] = [];
    for (const ad of alone) {
      const found = await this.#resolveAd({ rung, ad }, wrappers);
      if (found.some((one) => isShowable(one.ad))) return found;
      if (empty.length === 0) empty = found;
    }
    return empty;
  }

  async #resolveAd(at: AdAt, wrappers: AdAt[]): Promise<ResolvedAd[]> {
    const { wrapper } = at.ad;
    if (!wrapper) return [{ ...at, wrappers }];
    const chain = [...wrappers, at];
    if (wrappers.at(-1)?.ad.wrapper?.followAdditionalWrappers === false) return this.#fail('not_followed', chain);
    const from = this.rungs[at.rung] as Rung;
    const url = resolveUrl(wrapper.uri, from.fetched?.url ?? '');
    const refusal = wrapper.uri === '' ? 'invalid' : this.#refusal(url, chain);
    if (refusal || url === null) {
      this.rungs.push({
        ...NOTHING,
        parent: at.rung,
        depth: chain.length,
        requestedUrl: url ?? wrapper.uri,
        outcome: refusal ?? 'refused',
      });
      return this.#fail(refusal ?? 'refused', chain);
    }
    const next = this.add(await this.#fetch(url), url, at.rung, chain.length);
    return this.resolveDocument(next, chain);
  }

  /** Why a wrapper's document is not even asked for; null = it is. */
  #refusal(url: string | null, chain: AdAt[]): DocumentFault | null {
    if (url === null) return 'refused';
    const seen = chain.map(({ rung }) => this.rungs[rung] as Rung);
    if (seen.some(({ requestedUrl, fetched }) => requestedUrl === url || fetched?.url === url)) return 'loop';
    return chain.length > WRAPPERS_MAX || this.rungs.length >= DOCUMENTS_MAX ? 'limit' : null;
  }

  /** Errors are told to all wrappers of the chain, and where a document has no ad, to its own server. */
  #fail(why: DocumentFault, chain: AdAt[], own: { rung: number; urls: string[] } | null = null): [] {
    this.failure ??= why;
    const ofChain = chain.flatMap(({ rung, ad }) =>
      ad.trackers.filter(({ event }) => event === 'error').map(({ url }) => ({ rung, url })),
    );
    const ofDocument = own?.urls.map((url) => ({ rung: own.rung, url })) ?? [];
    this.errors.push({ code: CODES[why], urls: [...ofDocument, ...ofChain] });
    return [];
  }
}

const NOTHING = { fetched: null, root: null, document: null };

/** No other attempt leads there: a private address, mixed content, a redirect that leads in a circle, or to what is no web address. */
const NEVER_ANSWERED =
  /private_address$|ERR_BLOCKED_BY_MIXED_CONTENT|ERR_TOO_MANY_REDIRECTS|ERR_UNSAFE_REDIRECT|ERR_INVALID_REDIRECT/;

/** What a document is, by what its server answered and what it says. An empty answer is how servers often say that they have no ad. */
function outcomeOf({ statusCode, fault, text }: FetchedDocument, document: VastDocument | null): VastOutcome {
  if (NEVER_ANSWERED.test(fault)) return 'refused';
  if (fault !== '' || statusCode >= 500) return 'unanswered';
  if (statusCode >= 400) return 'refused';
  if (text.trim() === '') return 'no_ad';
  if (!document) return text.length > VAST_LENGTH_MAX ? 'too_large' : 'invalid';
  return document.ads.length > 0 ? 'ads' : 'no_ad';
}

/** Without `allowMultipleAds`, the first stand-alone ad alone; lenient where there is none (VAST 4.3, 3.19). */
function allowedAds({ ads }: VastDocument, wrapper: VastWrapper | null): VastAd[] {
  if (!wrapper || wrapper.allowMultipleAds === true) return ads;
  const first = ads.find(({ sequence }) => sequence === null) ?? ads[0];
  return first ? [first] : [];
}

/** An http(s) URL as the document at `base` means it, without its fragment; null for any other. */
function resolveUrl(text: string, base: string): string | null {
  const url = URL.parse(text, base || undefined);
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  url.hash = '';
  return url.href;
}
