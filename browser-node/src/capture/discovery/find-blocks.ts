import type { AdKind, AdSignal } from '@adsweep/shared/capture/ad-block.ts';
import { type Network, networkOf } from './ad-servers.ts';
import { isAdSize } from './ad-sizes.ts';
import type { Box, PageFacts } from './page-facts.ts';
import { areaOf, keyOf, type NodeRef, PageIndex, sharedArea } from './page-index.ts';
import { candidateAt, SIGNS } from './signals.ts';
import { slotOf } from './slots.ts';

/** An ad in a page, as found. `documents`: those of its frames, outermost first. */
export type FoundBlock = Network & {
  slot: NodeRef;
  kind: Exclude<AdKind, 'pop'>;
  box: Box;
  signals: AdSignal[];
  documents: number[];
};

/** An element with a sign that it is an ad. */
type Seed = { ref: NodeRef; signal: AdSignal };

/** What is smaller, in pixels, is no ad. */
const WIDTH_MIN = 40;
const HEIGHT_MIN = 20;
/** Elements with signs that are looked at, of a page that has more than any page with ads. */
const SEEDS_MAX = 5_000;
/** Two slots that share this part of their areas are one. */
const SAME_SHARE = 0.8;

/** The ads in a page, top to bottom, then left to right. Pure. */
export function findAdBlocks(facts: PageFacts): FoundBlock[] {
  const page = new PageIndex(facts);
  const slots = new Map<string, { slot: NodeRef; box: Box; signals: Set<AdSignal> }>();
  for (const { ref, signal } of seedsIn(page)) {
    const slot = slotOf(page, ref);
    const box = page.shownBox(slot);
    if (!box || !isSeen(page, box)) continue;
    const known = slots.get(keyOf(slot)) ?? { slot, box, signals: new Set() };
    known.signals.add(signal);
    slots.set(keyOf(slot), known);
  }
  const blocks = mergeSlots(page, [...slots.values()]).map(({ slot, box, signals }): FoundBlock => {
    const documents = page.framesWithin(slot);
    if (isAdSize(box)) signals.add('ad_size');
    const network = networkOf(urlsOf(page, documents), facts.documents[0]?.url ?? '');
    return { slot, kind: 'banner', box, signals: [...signals], documents, ...network };
  });
  return blocks.sort((a, b) => comparePlaces(a.box, b.box));
}

function seedsIn(page: PageIndex): Seed[] {
  const seeds: Seed[] = [];
  for (const [document, { nodes }] of page.facts.documents.entries()) {
    for (const [node, { tag }] of nodes.entries()) {
      if (tag.startsWith('#') || tag === 'html' || tag === 'body') continue;
      const ref = { document, node };
      const candidate = candidateAt(page, ref);
      for (const { signal, tells } of SIGNS) if (tells(candidate) && page.shows(ref)) seeds.push({ ref, signal });
      if (seeds.length >= SEEDS_MAX) return seeds;
    }
  }
  return seeds;
}

/** Whether a visitor can see what is at a place, and it is large enough for an ad. */
function isSeen({ facts: { page } }: PageIndex, { x, y, width, height }: Box): boolean {
  if (width < WIDTH_MIN || height < HEIGHT_MIN) return false;
  return x + width > 0 && y + height > 0 && (page.width === 0 || x < page.width);
}

/** One of each group of slots that are in one another, or in the same place. */
function mergeSlots<Slot extends { slot: NodeRef; box: Box; signals: Set<AdSignal> }>(
  page: PageIndex,
  all: Slot[],
): Slot[] {
  const byKey = new Map(all.map((one) => [keyOf(one.slot), one]));
  const kept: Slot[] = [];
  for (const one of all) {
    const outer = [...page.around(one.slot)].map((ref) => byKey.get(keyOf(ref))).findLast((slot) => slot !== undefined);
    if (!outer) kept.push(one);
    else for (const signal of one.signals) outer.signals.add(signal);
  }
  const distinct: Slot[] = [];
  for (const one of kept) {
    const same = distinct.find((other) => isSamePlace(other.box, one.box));
    if (!same) distinct.push(one);
    else for (const signal of one.signals) same.signals.add(signal);
  }
  return distinct;
}

const isSamePlace = (a: Box, b: Box): boolean => sharedArea(a, b) >= SAME_SHARE * Math.max(areaOf(a), areaOf(b));

/** What a slot requested and what it is made of, in the order in which that led to the ad. */
function urlsOf(page: PageIndex, documents: readonly number[]): string[] {
  const requests = documents.flatMap((document) => page.requestsOf(document));
  return requests.sort((a, b) => a.atMs - b.atMs).map(({ url }) => url);
}

/** Top to bottom, then left to right, then the larger first. Pure. */
export function comparePlaces(a: Box, b: Box): number {
  return Math.round(a.y) - Math.round(b.y) || Math.round(a.x) - Math.round(b.x) || areaOf(b) - areaOf(a);
}
