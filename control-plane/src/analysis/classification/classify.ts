import { type AdBlock, networkOfBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import { type CapturedLanding, subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { brandOf } from './brand.ts';
import { type Network, networkOf, unnamedAdServer } from './network-name.ts';

/** The classification that follows from the evidence alone, without a model. */
export type OwnNames = Network & { brand: string | null };

/**
 * What is classified: the landings without skipped domains, with their documents, all captured landings, and the URLs
 * of the ad.
 */
export type Classified = {
  judged: CapturedLanding[];
  captured: CapturedLanding[];
  documents?: CapturedDocument[];
  /** What the creative loaded; empty for page scans. */
  creativeUrls?: string[];
  /** What ad servers deliver: VAST documents, or the creative's documents and scripts. */
  servedUrls?: string[];
  /** The page with the ad, and the URL of the harness page: the same or a neutral one. */
  publisher?: string | null;
  pageUrl?: string | null;
  /** The ad on a page whose scan this is. */
  adBlock?: AdBlock | null;
};

/**
 * Brand and network of a scan: the brand from its first landing; the network from what the creative loaded and the
 * chain before the landing, or for an ad on a page, from what the sweep found there.
 */
export function classify(classified: Classified): OwnNames {
  const { judged, documents = [], adBlock = null } = classified;
  const first = judged.toSorted((a, b) => a.ord - b.ord)[0];
  const html = documents.find(({ landing, frame }) => landing === first?.ord && frame === '')?.html ?? '';
  return {
    brand: first ? brandOf({ ...first, html }) : null,
    ...(adBlock ? networkOfBlock(adBlock) : networkOfCapture(classified)),
  };
}

function networkOfCapture({
  captured,
  creativeUrls = [],
  servedUrls = [],
  publisher = null,
  pageUrl = null,
}: Classified): Network {
  const chain = subjectLanding(captured)?.redirect_chain ?? [];
  // The last URL is the landing, which serves no ad.
  const named = networkOf([...creativeUrls, ...(chain.length > 0 ? chain.map(({ url }) => url) : [''])], publisher);
  const publishers = [publisher, pageUrl].filter((url) => url !== null);
  return named.network_host === '' ? unnamedAdServer(servedUrls, publishers) : named;
}
