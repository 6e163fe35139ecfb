import { comparePlaces, type FoundBlock, isSamePlace } from './find-blocks.ts';
import { isSameElement, type PageElement } from './found-ad.ts';

/**
 * An ad block as it was seen at one time. `around`: its slot, and the elements around it, innermost first; `isPinned`:
 * it does not scroll with the page.
 */
export type SeenBlock = Omit<FoundBlock, 'slot' | 'documents'> & {
  element: PageElement;
  around: readonly PageElement[];
  description: string;
  frameIds: string[];
  isPinned: boolean;
  inPage: PageElement | null;
  overlay: PageElement | null;
  closeButton: PageElement | null;
};

/**
 * The blocks of two readings of a page, each once, in the order of the page. A slot that is in both has the ad of the
 * first and the position of the last; a block that does not scroll with the page, or is missing in the last, has the
 * position of the first. Pure.
 */
export function joinReadings(first: readonly SeenBlock[], last: readonly SeenBlock[]): SeenBlock[] {
  const left = new Set(first);
  const slots = last.map((now) => ({ now, before: [] as SeenBlock[] }));
  for (const { isSame, most } of SAME_SLOT)
    for (const { now, before } of slots) {
      const found = before.length > 0 ? [] : [...left].filter((was) => isSame(was, now)).slice(0, most);
      before.push(...found);
      for (const one of found) left.delete(one);
    }
  return [...slots.map(joined), ...left].sort((a, b) => comparePlaces(a.box, b.box));
}

/** A block with what was seen in its slot before. */
function joined({ now, before }: { now: SeenBlock; before: readonly SeenBlock[] }): SeenBlock {
  const [was] = before;
  if (!was) return now;
  const all = [...before, now];
  return {
    ...now,
    box: now.isPinned ? was.box : now.box,
    ...(was.networkHost !== '' && { network: was.network, networkHost: was.networkHost }),
    signals: [...new Set(all.flatMap(({ signals }) => signals))],
    frameIds: [...new Set(all.flatMap(({ frameIds }) => frameIds))],
    scripts: [...new Set(all.flatMap(({ scripts }) => scripts))],
    overlay: now.overlay ?? was.overlay,
    closeButton: now.closeButton ?? was.closeButton,
  };
}

const isIn = (inner: SeenBlock, outer: SeenBlock): boolean =>
  inner.around.some((one) => isSameElement(one, outer.element));
const isDescribedAlike = (was: SeenBlock, now: SeenBlock): boolean => was.description === now.description;

/**
 * How a slot is known again, the surest way first, and how many earlier blocks may be in it: by its element, or one in
 * the other; by its place; by its path of ids. Several slots may have the same path, and other ads their places once
 * what is above them has grown.
 */
const SAME_SLOT: readonly { isSame(was: SeenBlock, now: SeenBlock): boolean; most: number }[] = [
  { isSame: (was, now) => isIn(was, now) || isIn(now, was), most: Number.POSITIVE_INFINITY },
  { isSame: (was, now) => isSamePlace(was.box, now.box), most: 1 },
  { isSame: (was, now) => isDescribedAlike(was, now) && was.networkHost === now.networkHost, most: 1 },
  { isSame: isDescribedAlike, most: 1 },
];
