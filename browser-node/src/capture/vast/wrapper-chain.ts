import type { VastOutcome } from '@adsweep/shared/capture/vast.ts';
import type { VastAd, VastDocument } from '@adsweep/shared/vast/vast-document.ts';
import type { XmlElement } from '@adsweep/shared/vast/xml.ts';

/**
 * A document as the browser fetched it. `url`: its URL after redirects; without a response `statusCode` is 0 and
 * `fault` says why; `readable`: CORS lets pages of other origins read it, which players need. Times in ms since the
 * capture began.
 */
export type FetchedDocument = {
  url: string;
  statusCode: number;
  contentType: string;
  text: string;
  fault: string;
  readable: boolean;
  atMs: number;
  elapsedMs: number;
};

export type DocumentFault = Exclude<VastOutcome, 'ads'>;

/**
 * One document of the wrapper chain. `parent`: index of the document whose wrapper points to it, null: it is the tag
 * itself; `depth`: the number of wrappers before it; `fetched` null: it was not requested; `root` and `vast` null: it
 * is not XML, or not VAST.
 */
export type ChainDocument = {
  parent: number | null;
  depth: number;
  requestedUrl: string;
  outcome: VastOutcome;
  fetched: FetchedDocument | null;
  root: XmlElement | null;
  vast: VastDocument | null;
};

/** An ad, inline or wrapper, and the index of its document in the wrapper chain. */
export type ChainAd = { document: number; ad: VastAd };

/** An inline ad with the wrappers that point to it, the outermost first. */
export type ResolvedAd = ChainAd & { wrappers: ChainAd[] };

/** The error URLs that one document, or an ad of it, declares. */
export type ErrorUrls = { document: number; urls: readonly string[] };

/**
 * The error URLs to request for a branch that has no ad, and the code of VAST 4.3, 2.3.6. Branches share the lists of
 * the wrappers that they have in common: one document can declare thousands of URLs.
 */
export type BranchError = { code: number; lists: readonly ErrorUrls[] };

/**
 * What a VAST tag resolves to: its ads in playing order, or `failure` where there are none. `adsLeftOut`: how many ads
 * of its documents were not followed because there were too many.
 */
export type Resolution = {
  chain: ChainDocument[];
  ads: ResolvedAd[];
  adsLeftOut: number;
  errors: BranchError[];
  failure: DocumentFault | null;
};

/** The URL that relative URLs in a document of the chain are relative to. */
export const baseUrl = ({ chain }: Pick<Resolution, 'chain'>, document: number): string =>
  chain[document]?.fetched?.url ?? '';

/** A URL as a document at `base` means it, '' = none. Brackets of macros and what is not a URL stay as they are. */
export const absolute = (url: string, base: string): string =>
  url === '' || /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : (URL.parse(url, base || undefined)?.href ?? url);
