import { Site } from '../../../browser-node/test/support/site.ts';
import type { Corpus, CorpusCase, OpenCorpus } from '../corpus.ts';
import { type Box, expectedFacts, type FoundBlock, foundFacts } from './block-facts.ts';
import { Finder } from './finder.ts';
import { Measure } from './measure.ts';
import type { PublisherPage } from './publisher-page.ts';
import { PUBLISHER_PAGES } from './registry.ts';
import { Sweeper } from './sweeper.ts';
import { servePages } from './web.ts';

/** What scans a page; `find` returns its ads in any order. */
type Scanner = { find(page: PublisherPage): Promise<FoundBlock[]>; close(): Promise<void> };

/**
 * Pages of publishers, each swept by a running farm as a client would ask for it: every ad with its kind, order, place, network and landing, and
 * nothing else.
 */
export const discovery: Corpus = {
  name: 'discovery',
  open: () => openWith((site) => Sweeper.start(site), true),
};

/** The same pages, given to the part of a node that finds ads: quick, and without landings. */
export const discoveryFinder: Corpus = {
  name: 'discovery-finder',
  open: () => openWith((site) => Finder.start(site), false),
};

async function openWith(start: (site: Site) => Promise<Scanner>, hasLandings: boolean): Promise<OpenCorpus> {
  const site = await Site.start();
  servePages(site, PUBLISHER_PAGES);
  const [scanner, measure] = await Promise.all([start(site), Measure.start(site)]);
  return {
    cases: PUBLISHER_PAGES.map((page) => pageCase(page, scanner, measure, hasLandings)),
    close: async () => {
      await Promise.all([scanner.close(), measure.close()]);
      await site.close();
    },
  };
}

function pageCase(page: PublisherPage, scanner: Scanner, measure: Measure, hasLandings: boolean): CorpusCase {
  let boxes: Promise<(Box | null)[]> | undefined;
  return {
    subject: page.subject,
    name: page.name,
    expected: expectedFacts(page, hasLandings),
    run: async () => {
      boxes ??= measure.boxesOf(page);
      return foundFacts(page.ads, await boxes, await scanner.find(page));
    },
  };
}
