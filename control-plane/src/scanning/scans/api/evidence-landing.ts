import type { Hop } from '@adsweep/shared/capture/hop.ts';

/** A landing as its capture tells it: each hop with the requests its document made; `screenshot` names its artifact, null = there is none. */
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
