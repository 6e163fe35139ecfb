import type { VastOutcome } from '@adsweep/shared/capture/vast.ts';
import type { VastAd, VastDocument } from '@adsweep/shared/vast/vast-document.ts';
import type { XmlElement } from '@adsweep/shared/vast/xml.ts';

/**
 * A document as the browser fetched it. `url`: where it came from after its redirects; `statusCode` 0 and a `fault` where no answer came;
 * `readable`: its server lets pages of other origins read it, as players must. Times in ms since the capture began.
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

/** A rung of the wrapper ladder: one document, and the one whose wrapper led to it (`parent` null: the tag itself). */
export type Rung = {
  parent: number | null;
  /** The number of wrappers before it. */
  depth: number;
  requestedUrl: string;
  outcome: VastOutcome;
  fetched: FetchedDocument | null;
  root: XmlElement | null;
  document: VastDocument | null;
};

/** An ad in the document of a rung. */
export type AdAt = { rung: number; ad: VastAd };

/** An inline ad with the wrappers that led to it, the outermost first. */
export type ResolvedAd = AdAt & { wrappers: AdAt[] };

/** What to tell where a branch of the ladder came to nothing: the error URLs, and a code of VAST 4.3, 2.3.6. */
export type BranchError = { code: number; urls: { rung: number; url: string }[] };

/**
 * What a VAST tag leads to: the ads to play in their order, none where `failure` says why. `adsLeftOut`: how many of its documents' ads were
 * not followed because there were too many.
 */
export type Resolution = {
  rungs: Rung[];
  ads: ResolvedAd[];
  adsLeftOut: number;
  errors: BranchError[];
  failure: DocumentFault | null;
};

/** Whether an ad has anything that can be shown. */
export const isShowable = ({ linears, nonLinears }: VastAd): boolean =>
  linears.some(({ mediaFiles, interactiveFiles }) => mediaFiles.length + interactiveFiles.length > 0) ||
  nonLinears.some(({ resources }) => resources.length > 0);
