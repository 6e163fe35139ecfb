import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import { subjectLanding } from '@adsweep/shared/capture/subject-landing.ts';
import { brandOf } from './brand.ts';
import { type Network, networkOf } from './network-name.ts';

/** What a scan is about. Without a model the categories stay open. */
export type Verdict = Network & { brand: string | null; ai_category: null; iab_v3: null; custom_taxonomies: never[] };

/**
 * Classifies the landings that are left to be judged: the brand by the first of them, the network by what the creative loaded (of a page
 * scan nothing) and the whole chain before the landing.
 */
export function classify(judged: CapturedLanding[], captured: CapturedLanding[], creativeUrls: string[] = []): Verdict {
  const first = judged.toSorted((a, b) => a.ord - b.ord)[0];
  const chain = subjectLanding(captured)?.redirect_chain ?? [];
  return {
    brand: first ? brandOf(first) : null,
    ai_category: null,
    iab_v3: null,
    custom_taxonomies: [],
    // The last one is the landing, which serves no ad.
    ...networkOf([...creativeUrls, ...(chain.length > 0 ? chain.map(({ url }) => url) : [''])]),
  };
}
