import { AD_BLOCKS_MAX, type AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { type FoundBlock, findAdBlocks } from './find-blocks.ts';
import type { FoundAd } from './found-ad.ts';
import { describeSlot, identityOf } from './identity.ts';
import type { Box } from './page-facts.ts';
import { PageIndex } from './page-index.ts';
import { type ReadPage, readPage } from './read-page.ts';

/**
 * The ads on the page of a tab that has settled: at most {@link AD_BLOCKS_MAX}, in the order of their `slot_index`. Rejects when the tab is
 * gone or does not answer.
 */
export async function findAds(capture: MemberCapture, tab: OpenTab): Promise<FoundAd[]> {
  const read = await readPage(capture, tab);
  const page = new PageIndex(read.facts);
  const seen = new Map<string, number>();
  return findAdBlocks(read.facts)
    .slice(0, AD_BLOCKS_MAX)
    .map((found, slot_index) => {
      const slot = describeSlot(page, found.slot, found.box);
      const key = JSON.stringify([slot, found.networkHost]);
      const nth = seen.get(key) ?? 0;
      seen.set(key, nth + 1);
      return foundAd(read, tab, found, { identity: identityOf(slot, nth, found.networkHost), slot_index });
    });
}

function foundAd(
  { facts, sessionOf }: ReadPage,
  tab: OpenTab,
  { slot, kind, box, signals, documents, network, networkHost }: FoundBlock,
  at: Pick<AdBlock, 'identity' | 'slot_index'>,
): FoundAd {
  const node = facts.documents[slot.document]?.nodes[slot.node];
  const frameIds = documents.flatMap((document) => facts.documents[document]?.frameId ?? []);
  const own = new Set(frameIds);
  return {
    block: { ...at, ad_kind: kind, network, network_host: networkHost, ...inPixels(box), signals },
    element: { session: sessionOf(slot.document), backendNodeId: node?.backendNodeId ?? 0 },
    frameIds,
    tab,
    coversPage: false,
    closeButton: null,
    ownsRequest: ({ frameId }: Entry) => own.has(frameId),
  };
}

/** The farthest that a place can be from the corner of the page, as in an ad block. */
const PIXELS_MAX = 10_000_000;

function inPixels({ x, y, width, height }: Box): Box {
  const pixels = (length: number) => Math.round(Math.min(PIXELS_MAX, Math.max(-PIXELS_MAX, length)));
  return { x: pixels(x), y: pixels(y), width: pixels(width), height: pixels(height) };
}
