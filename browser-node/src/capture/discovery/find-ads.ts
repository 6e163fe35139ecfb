import { AD_BLOCKS_MAX, type AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { Box } from '../box.ts';
import type { FrameTree } from '../devtools/frame-tree.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { findAdBlocks, isSamePlace } from './find-blocks.ts';
import { type FoundPop, findPops } from './find-pops.ts';
import type { FoundAd } from './found-ad.ts';
import { describeSlot, identityOf } from './identity.ts';
import { joinReadings, type SeenBlock } from './join-readings.ts';
import { overlayOf, pinnedAround } from './overlays.ts';
import { PageIndex } from './page-index.ts';
import { readPage } from './read-page.ts';
import { readThrough } from './read-through.ts';

/**
 * The ads on the page of a tab that has settled: at most {@link AD_BLOCKS_MAX}, in the order of their `slot_index`: the
 * pops as they opened, then the others from top to bottom and left to right. Reads the page, scrolls through it, and
 * reads it again, and each screen of one that has only what is in view; afterwards it is at its top. Notes what could
 * not be read. Rejects when the browser is gone.
 */
export async function findAds(capture: MemberCapture, tab: OpenTab): Promise<FoundAd[]> {
  const first = await readBlocks(capture, tab);
  const between: Reading[] = [];
  const readScreen = async () => {
    between.push(await readBlocks(capture, tab));
  };
  if (findPops(capture, tab).pageTab === tab) await readThrough(capture, tab, readScreen);
  const { pops, pageTab } = findPops(capture, tab);
  const last = pageTab ? await readBlocks(capture, pageTab) : NOTHING;
  // What was seen before the page sent its tab elsewhere is there no more.
  const readings = pageTab === tab ? [first, ...between, last] : [last];
  const blocks = readings.map((reading) => reading.blocks).reduce(joinReadings);
  const left =
    Math.max(...readings.map((reading) => reading.left)) + Math.max(0, pops.length + blocks.length - AD_BLOCKS_MAX);
  if (left > 0) capture.notes.push(note('ad_blocks', { count: left }));
  if (last.unread > 0) capture.notes.push(note('ad_frames', { count: last.unread }));
  const identify = new Identities();
  const owners = new RequestOwners(capture.devtools.frames, blocks);
  const found = { tab: pageTab ?? tab, blocks, owners, identify };
  const ads = [
    ...pops.map((pop) => (slot_index: number) => adOfPop(pop, slot_index, identify)),
    ...blocks.map((block) => (slot_index: number) => adOfBlock(block, slot_index, found)),
  ];
  return ads.slice(0, AD_BLOCKS_MAX).map((make, slot_index) => make(slot_index));
}

/**
 * The ad that is now where another was found: a slot that refreshes replaces its elements and frames. It has the block
 * of the one before. Null: no ad is there. Rejects when the browser is gone.
 */
export async function findAgain(session: CaptureSession, ad: FoundAd): Promise<FoundAd | null> {
  const { blocks } = await readBlocks(session, ad.tab);
  const isThere = (one: SeenBlock) => isSamePlace(one.box, ad.block);
  const described = blocks.filter(({ description }) => description === ad.description);
  const found = described.find(isThere) ?? described[0] ?? blocks.find(isThere);
  if (!found) return null;
  const { element, inPage, frameIds, overlay, closeButton } = found;
  const frames = new Set(frameIds);
  const ownsRequest: FoundAd['ownsRequest'] = (entry) => frames.has(entry.frameId) || ad.ownsRequest(entry);
  return { ...ad, element, inPage, frameIds, overlay, closeButton, ownsRequest };
}

/** The ad blocks of a page at one time. `left`: those beyond the limit; `unread`: frames that could not be read. */
type Reading = { blocks: SeenBlock[]; left: number; unread: number };
const NOTHING: Reading = { blocks: [], left: 0, unread: 0 };

async function readBlocks(capture: CaptureSession, tab: OpenTab): Promise<Reading> {
  const { facts, sessionOf, unread } = await readPage(capture, tab);
  if (facts.documents.length === 0) return { ...NOTHING, unread };
  const page = new PageIndex(facts);
  const { blocks, left } = findAdBlocks(page, AD_BLOCKS_MAX);
  const seen = blocks.map(({ slot, documents, ...block }): SeenBlock => {
    const elementAt = (ref: typeof slot) => ({
      session: sessionOf(ref.document),
      backendNodeId: page.node(ref).backendNodeId,
    });
    const inPage = (ref: typeof slot) => {
      const outermost = [ref, ...page.around(ref)].find(({ document }) => document === 0);
      return outermost ? elementAt(outermost) : null;
    };
    const overlay = overlayOf(page, slot);
    return {
      ...block,
      element: elementAt(slot),
      inPage: inPage(slot),
      around: [slot, ...page.around(slot)].map(elementAt),
      description: describeSlot(page, slot, block.box),
      frameIds: documents.map((document) => page.documentAt(document).frameId),
      isPinned: pinnedAround(page, slot).length > 0,
      overlay: overlay && inPage(overlay.ref),
      closeButton: overlay?.closeButton ? elementAt(overlay.closeButton) : null,
    };
  });
  return { blocks: seen, left, unread };
}

/** Gives slots with the same description different identities, by their order. */
class Identities {
  readonly #seen = new Map<string, number>();

  of(slot: string, networkHost: string): string {
    const key = JSON.stringify([slot, networkHost]);
    const nth = this.#seen.get(key) ?? 0;
    this.#seen.set(key, nth + 1);
    return identityOf(slot, nth, networkHost);
  }
}

/** Says to which block of a page a request belongs. */
class RequestOwners {
  readonly #tree: Pick<FrameTree, 'nearest'>;
  readonly #frames: ReadonlySet<string>;

  constructor(tree: Pick<FrameTree, 'nearest'>, blocks: readonly SeenBlock[]) {
    this.#tree = tree;
    this.#frames = new Set(blocks.flatMap(({ frameIds }) => frameIds));
  }

  /** What is requested in a frame of an ad is that ad's, also if a script that several ads share caused it. */
  of({ frameIds, scripts }: SeenBlock): FoundAd['ownsRequest'] {
    const [own, made] = [new Set(frameIds), new Set(scripts)];
    return ({ frameId, url, initiatorScripts }) => {
      const ofAd = this.#tree.nearest(frameId, this.#frames);
      if (ofAd !== null) return own.has(ofAd);
      return made.has(url) || initiatorScripts.some((script) => made.has(script));
    };
  }
}

type Found = {
  tab: OpenTab;
  blocks: readonly SeenBlock[];
  owners: RequestOwners;
  identify: Identities;
};

function adOfBlock(seen: SeenBlock, slot_index: number, { tab, blocks, owners, identify }: Found): FoundAd {
  const { network, networkHost, box, kind, signals, description, element, inPage, frameIds, overlay, closeButton } =
    seen;
  const identity = identify.of(description, networkHost);
  const isUnlike = blocks.every((one) => one === seen || one.description !== description);
  return {
    block: {
      identity,
      slot_index,
      ad_kind: kind,
      network,
      network_host: networkHost,
      ...inPixels(box),
      signals: [...signals],
    },
    element,
    inPage,
    description: isUnlike ? description : '',
    frameIds,
    tab,
    overlay,
    closeButton,
    ownsRequest: owners.of(seen),
  };
}

const NOWHERE: Box = { x: 0, y: 0, width: 0, height: 0 };

function adOfPop(
  { network, networkHost, tab, signal, sinceMs }: FoundPop,
  slot_index: number,
  identities: Identities,
): FoundAd {
  const at: Pick<AdBlock, 'identity' | 'slot_index'> = { identity: identities.of(signal, networkHost), slot_index };
  const { targetId } = tab.tab.session;
  return {
    block: { ...at, ad_kind: 'pop', network, network_host: '', ...NOWHERE, signals: [signal] },
    element: null,
    inPage: null,
    description: '',
    frameIds: [],
    tab,
    overlay: null,
    closeButton: null,
    ownsRequest: (entry) => entry.tab === targetId && (signal === 'opened_window' || entry.timestampMs >= sinceMs),
  };
}

/** The farthest that a place can be from the corner of the page, as in an ad block. */
const PIXELS_MAX = 10_000_000;

function inPixels({ x, y, width, height }: Box): Box {
  const pixels = (length: number) => Math.round(Math.min(PIXELS_MAX, Math.max(-PIXELS_MAX, length)));
  return { x: pixels(x), y: pixels(y), width: pixels(width), height: pixels(height) };
}
