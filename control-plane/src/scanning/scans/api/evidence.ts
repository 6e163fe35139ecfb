import type { ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';
import { companionScreenshot } from '@adsweep/shared/capture/artifacts.ts';
import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { Hop, SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { Note } from '@adsweep/shared/capture/notes.ts';
import type { Static } from 'typebox';
import type { VastOutSchema, VideoSchema } from './vast-responses.ts';

/**
 * A landing of a capture: each hop with the requests of its document; `screenshot`: the name of its artifact, null =
 * there is none.
 */
export type EvidenceLanding = {
  ord: number;
  opener_url: string;
  final_url: string;
  offer_url: string;
  page_title: string;
  screenshot: string | null;
  redirect_chain: Hop[];
  elapsed_ms: number;
  created_at: Date;
};

/**
 * The creative of an ad. `requests`: those that belong to no hop of its chain; of an ad on a page, which has no chain,
 * all of them.
 */
export type EvidenceCreative = Pick<CapturedCreative, 'width' | 'height' | 'page_url'> & {
  redirect_chain: Hop[];
  requests: SubRequest[];
};

/** The metadata of a video ad (spec 2.1). */
export type Video = Static<typeof VideoSchema>;

/**
 * The result of a VAST tag: its metadata (null: it has no ad), its wrapper chain, its ads, and each declared tracker
 * with its request.
 */
export type EvidenceVast = { video: Video | null } & Omit<Static<typeof VastOutSchema>, 'companions'>;

/**
 * The evidence in a scan's capture, for clients: landings by ordinal, the creative if there is one, and its artifacts.
 */
export type ScanEvidence = {
  landings: EvidenceLanding[];
  creative: EvidenceCreative | null;
  vast: EvidenceVast | null;
  /** The ads on the page of a sweep, in the order of `slot_index`; null for other scans. */
  adBlocks: ListedAdBlock[] | null;
  /** The sizes of its files in pixels by name, 0: not a picture. */
  artifacts: ReadonlyMap<string, { width: number; height: number }>;
  /** What the capture lacks. */
  notes: readonly Note[];
};

/** Maximum number of companion screenshots: a browser node takes five for each of five ads. */
const COMPANIONS_MAX = 25;

/** The places of the companions of a VAST tag that have a screenshot. */
export const companionsIn = (artifacts: Pick<ScanEvidence['artifacts'], 'has'>): number[] =>
  Array.from({ length: COMPANIONS_MAX }, (_, place) => place).filter((place) =>
    artifacts.has(companionScreenshot(place)),
  );

/** Before there is a capture, and when it was removed. */
export const NO_SCAN_EVIDENCE: ScanEvidence = {
  landings: [],
  creative: null,
  vast: null,
  adBlocks: null,
  artifacts: new Map(),
  notes: [],
};
