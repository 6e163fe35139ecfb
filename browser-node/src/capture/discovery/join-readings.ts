import type { FoundBlock } from './find-blocks.ts';
import { comparePlaces, isSamePlace } from './find-blocks.ts';
import type { PageElement } from './found-ad.ts';

/** An ad block as it was seen at one time. `around`: its slot, and the elements around it, innermost first; `isPinned`: it does not scroll with the page. */
export type SeenBlock = Omit<FoundBlock, 'slot' | 'documents'> & {
  element: PageElement;
  around: readonly PageElement[];
  description: string;
  frameIds: string[];
  isPinned: boolean;
  coversPage: boolean;
  closeButton: PageElement | null;
};

/**
 * The blocks of two readings of a page, each once, in the order of the page. A slot that is in both has the ad of the first and the position of the
 * last; a block that does not scroll with the page, or is missing in the last, has the position of the first. Pure.
 */
export function joinReadings(first: readonly SeenBlock[], last: readonly SeenBlock[]): SeenBlock[] {
  const left = new Set(first);
  const joined = last.map((now): SeenBlock => {
    const before = [...left].filter((one) => isSameSlot(one, now));
    for (const one of before) left.delete(one);
    const [was] = before;
    if (!was) return now;
    return {
      ...now,
      box: now.isPinned ? was.box : now.box,
      ...(was.networkHost !== '' && { network: was.network, networkHost: was.networkHost }),
      signals: [...new Set([...was.signals, ...now.signals])],
      frameIds: [...new Set([...was.frameIds, ...now.frameIds])],
      scripts: [...new Set([...was.scripts, ...now.scripts])],
      coversPage: was.coversPage || now.coversPage,
      closeButton: now.closeButton ?? was.closeButton,
    };
  });
  return [...joined, ...left].sort((a, b) => comparePlaces(a.box, b.box));
}

/** Whether two blocks are one slot: the same element, one in the other, in the same place, or described by the same path of ids. */
function isSameSlot(was: SeenBlock, now: SeenBlock): boolean {
  const isIn = (inner: SeenBlock, outer: SeenBlock) => inner.around.some((one) => isSame(one, outer.element));
  return isIn(was, now) || isIn(now, was) || isSamePlace(was.box, now.box) || was.description === now.description;
}

const isSame = (a: PageElement, b: PageElement): boolean =>
  a.backendNodeId === b.backendNodeId && a.session.targetId === b.session.targetId;
