import { adNetworks } from './ad-networks.ts';
import { adRequests } from './ad-requests.ts';
import { behaviorPages } from './behavior-pages.ts';
import type { Corpus } from './corpus.ts';
import { creatives } from './creatives.ts';
import { discovery, discoveryFinder } from './discovery/discovery.ts';
import { evasions } from './evasions/evasions.ts';
import { exploitKits } from './exploit-kits.ts';
import { expressions } from './expressions.ts';
import { publicSuffixes } from './public-suffixes.ts';
import { taxonomy } from './taxonomy.ts';
import { vastDocuments } from './vast-documents.ts';

/** All corpora, in the order in which they run. */
export const CORPORA: readonly Corpus[] = [
  behaviorPages,
  evasions,
  creatives,
  discovery,
  discoveryFinder,
  vastDocuments,
  taxonomy,
  adNetworks,
  adRequests,
  publicSuffixes,
  expressions,
  exploitKits,
];
