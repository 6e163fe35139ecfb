import type { AdKind, AdSignal } from '@adsweep/shared/capture/ad-block.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { areaOf, type Box, sharedArea } from '../box.ts';
import { type Network, NO_NETWORK, networkOf } from './ad-servers.ts';
import { isAdSize } from './ad-sizes.ts';
import { urlsOf, writtenBy } from './block-urls.ts';
import { labelledBy, labelsIn } from './labels.ts';
import type { PageFacts } from './page-facts.ts';
import { isFrame, keyOf, type NodeRef, type PageIndex } from './page-index.ts';
import { candidateAt, linkOf, requestOf, SIGNS, SUPPORTING } from './signals.ts';
import { slotOf, widgetAround } from './slots.ts';

/**
 * An ad in a page, as found. `documents`: those of its frames, outermost first; `scripts`: those of ad servers that
 * made what it shows.
 */
export type FoundBlock = Network & {
  slot: NodeRef;
  kind: Exclude<AdKind, 'pop'>;
  box: Box;
  signals: AdSignal[];
  documents: number[];
  scripts: string[];
};

/** An element with signs that it is an ad. */
type Seed = { ref: NodeRef; signals: Set<AdSignal> };
/** A slot with the signs of what is in it. */
type Slot = { slot: NodeRef; box: Box; signals: Set<AdSignal> };

/** What is smaller, in pixels, is no ad. */
const WIDTH_MIN = 40;
const HEIGHT_MIN = 20;
/** Elements with signs that are looked at: more than any page with ads has. */
const SEEDS_MAX = 2_000;
/** Two slots that share this part of their areas are one. */
const SAME_SHARE = 0.8;

/** The ads in a page, top to bottom, then left to right; at most `max`. `left`: how many more there are. Pure. */
export function findAdBlocks(page: PageIndex, max: number): { blocks: FoundBlock[]; left: number } {
  const slots = new Map<string, Slot>();
  for (const { ref, signals } of joinSeeds(page, seedsIn(page))) {
    const slot = slotOf(page, ref);
    addSlot(page, slots, signals.has('native_widget') ? widgetAround(page, slot) : slot, signals);
  }
  const merged = mergeSlots(page, [...slots.values()]);
  const all = [...merged, ...labelledSlots(page, merged)].sort((a, b) => comparePlaces(a.box, b.box));
  return { blocks: all.slice(0, max).map((one) => asBlock(page, one)), left: Math.max(0, all.length - max) };
}

function addSlot(page: PageIndex, slots: Map<string, Slot>, slot: NodeRef, signals: Iterable<AdSignal>): void {
  const box = page.shownBox(slot);
  if (!box || !isSeen(page.facts, box)) return;
  const known = slots.get(keyOf(slot)) ?? { slot, box, signals: new Set() };
  slots.set(keyOf(slot), known);
  for (const signal of signals) known.signals.add(signal);
}

function asBlock(page: PageIndex, { slot, box, signals }: Slot): FoundBlock {
  const documents = page.framesWithin(slot);
  const isHouseAd = [...signals].every((signal) => signal === 'ad_label');
  const urls = urlsOf(page, slot, documents, signals);
  const network = isHouseAd && documents.length === 0 ? NO_NETWORK : networkOf(urls, page.documentAt(0).url);
  const facts = { urls, isSized: isAdSize(box) };
  for (const { signal, tells } of isHouseAd ? [] : SUPPORTING) if (tells(facts)) signals.add(signal);
  if (isHouseAd && facts.isSized) signals.add('ad_size');
  const isVideo = signals.has('video_ad_request') && !BANNER_SIGNALS.some((signal) => signals.has(signal));
  const kind = isVideo ? 'video' : 'banner';
  return { slot, kind, box, signals: [...signals], documents, scripts: writtenBy(page, slot), ...network };
}

/** A video in a slot with one of these is a part of a banner. */
const BANNER_SIGNALS: readonly AdSignal[] = ['google_publisher_tag', 'adsense', 'safeframe', 'native_widget'];

function seedsIn(page: PageIndex): Seed[] {
  const seeds: Seed[] = [];
  for (const [document, { nodes }] of page.facts.documents.entries()) {
    for (const [node, { tag }] of nodes.entries()) {
      const ref = { document, node };
      if (tag.startsWith('#') || tag === 'html' || tag === 'body' || !page.shows(ref)) continue;
      const candidate = candidateAt(page, ref);
      const signals = SIGNS.filter(({ tells }) => tells(candidate)).map(({ signal }) => signal);
      if (signals.length > 0) seeds.push({ ref, signals: new Set(signals) });
      if (seeds.length >= SEEDS_MAX) return seeds;
    }
  }
  return seeds;
}

/** Elements around two parts of an ad that may be what holds both. */
const JOIN_LEVELS_MAX = 6;

/**
 * Puts parts of one ad together that a script wrote without a frame, such as its picture and its headline: those that
 * lead to the same address, and the links of one network's native ads.
 */
function joinSeeds(page: PageIndex, seeds: readonly Seed[]): Seed[] {
  const groups = new Map<string, Seed[]>();
  for (const seed of seeds) {
    const key = partOf(page, seed) ?? keyOf(seed.ref);
    groups.set(key, [...(groups.get(key) ?? []), seed]);
  }
  return [...groups.values()].flatMap((group) => {
    const holder =
      group.length > 1
        ? holderOf(
            page,
            group.map(({ ref }) => ref),
          )
        : null;
    return holder ? [{ ref: holder, signals: new Set(group.flatMap(({ signals }) => [...signals])) }] : group;
  });
}

/** What the parts of an ad have in common; null: the element is an ad by itself. */
function partOf(page: PageIndex, { ref, signals }: Seed): string | null {
  const candidate = candidateAt(page, ref);
  if (isFrame(candidate.tag) || (candidate.tag !== 'a' && candidate.tag !== 'img')) return null;
  const link = linkOf(candidate) || requestOf(candidate)?.url || '';
  if (link === '') return null;
  return JSON.stringify([ref.document, signals.has('native_widget') ? registrableDomain(link) : link]);
}

/** The innermost element around all of some; null: it is too far from the first. */
function holderOf(page: PageIndex, refs: readonly NodeRef[]): NodeRef | null {
  const [first, ...others] = refs;
  if (!first) return null;
  const around = others.map((ref) => new Set([ref, ...page.around(ref)].map(keyOf)));
  let at: NodeRef | null = first;
  for (let level = 0; at && level < JOIN_LEVELS_MAX; level += 1, at = page.parentOf(at)) {
    const key = keyOf(at);
    if (page.node(at).tag === 'body') return null;
    if (around.every((keys) => keys.has(key))) return at;
  }
  return null;
}

/** Whether a visitor can see what is at a place, and it is large enough for an ad. */
function isSeen({ page }: PageFacts, { x, y, width, height }: Box): boolean {
  if (width < WIDTH_MIN || height < HEIGHT_MIN) return false;
  return x + width > 0 && y + height > 0 && (page.width === 0 || x < page.width);
}

/** One of each group of slots that are in one another, or in the same place. */
function mergeSlots(page: PageIndex, all: readonly Slot[]): Slot[] {
  const byKey = new Map(all.map((one) => [keyOf(one.slot), one]));
  const outermost = all.filter((one) => {
    const outer = [...page.around(one.slot)].map((ref) => byKey.get(keyOf(ref))).findLast((slot) => slot !== undefined);
    for (const signal of one.signals) outer?.signals.add(signal);
    return outer === undefined;
  });
  const distinct: Slot[] = [];
  for (const one of outermost) {
    const same = distinct.find((other) => isSamePlace(other.box, one.box));
    if (!same) distinct.push(one);
    else for (const signal of one.signals) same.signals.add(signal);
  }
  return distinct;
}

/** Whether two boxes are as good as the same. */
export const isSamePlace = (a: Box, b: Box): boolean => sharedArea(a, b) >= SAME_SHARE * Math.max(areaOf(a), areaOf(b));

/** The ads that only a label of the publisher marks; those of `known` that have a label get the signal. */
function labelledSlots(page: PageIndex, known: readonly Slot[]): Slot[] {
  const own = new Map(known.map((one) => [keyOf(one.slot), one]));
  /** The known slot in an element; null: it has several. */
  const holders = new Map<string, Slot | null>();
  for (const one of known)
    for (const ref of page.around(one.slot)) holders.set(keyOf(ref), holders.has(keyOf(ref)) ? null : one);
  const slots = new Map<string, Slot>();
  for (const label of labelsIn(page)) {
    const around = [label, ...page.around(label)].map((ref) => own.get(keyOf(ref))).find((one) => one !== undefined);
    const labelled = around ? null : labelledBy(page, label, (ref) => holders.has(keyOf(ref)));
    if (labelled && !labelled.isKnown) addSlot(page, slots, slotOf(page, labelled.ref), ['ad_label']);
    if (labelled?.isKnown) holders.get(keyOf(labelled.ref))?.signals.add('ad_label');
    around?.signals.add('ad_label');
  }
  return mergeSlots(page, [...slots.values()]).filter((one) => !known.some(({ box }) => isSamePlace(box, one.box)));
}

/** Top to bottom, then left to right, then the larger first. Pure. */
export function comparePlaces(a: Box, b: Box): number {
  return Math.round(a.y) - Math.round(b.y) || Math.round(a.x) - Math.round(b.x) || areaOf(b) - areaOf(a);
}
