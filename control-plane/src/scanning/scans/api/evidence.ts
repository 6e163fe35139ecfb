import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { Hop } from '@adsweep/shared/capture/hop.ts';
import type { Note } from '@adsweep/shared/capture/notes.ts';
import type { Static } from 'typebox';
import type { VastOutSchema, VideoSchema } from './vast-responses.ts';

/** A landing of a capture: each hop with the requests of its document; `screenshot`: the name of its artifact, null = there is none. */
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

/** The creative of an ad tag or VAST tag. */
export type EvidenceCreative = Pick<CapturedCreative, 'width' | 'height' | 'page_url'> & { redirect_chain: Hop[] };

/** The metadata of a video ad (spec 2.1). */
export type Video = Static<typeof VideoSchema>;

/** The result of a VAST tag: its metadata (null: it has no ad), its wrapper chain, its ads, and each declared tracker with its request. */
export type EvidenceVast = { video: Video | null } & Static<typeof VastOutSchema>;

/** The evidence in a scan's capture, for clients: landings by ordinal, the creative if there is one, and the names of its artifacts. */
export type ScanEvidence = {
  landings: EvidenceLanding[];
  creative: EvidenceCreative | null;
  vast: EvidenceVast | null;
  artifacts: ReadonlySet<string>;
  /** What the capture lacks. */
  notes: readonly Note[];
};

/** Before there is a capture, and when it was removed. */
export const NO_SCAN_EVIDENCE: ScanEvidence = {
  landings: [],
  creative: null,
  vast: null,
  artifacts: new Set(),
  notes: [],
};
