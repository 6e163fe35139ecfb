import { adServerName } from './ad-servers.ts';
import type { Box } from './page-facts.ts';
import { areaOf, type NodeRef, type PageIndex } from './page-index.ts';
import { candidateAt, frameUrls, isSlot } from './signals.ts';

/** Elements around an ad that may be its slot: further ones are the page. */
const LEVELS_MAX = 12;
/** Pixels by which the boxes of an ad and of an element that only wraps it may differ on each side. */
const WRAPPER_MARGIN = 4;
/** An element much larger than its ad is not its slot but a part of the page. */
const SLOT_AREA_MAX = 6;
/** A frame that an ad fills to this share is the ad's. */
const FILLED_SHARE = 0.6;

/** The slot that an element with an ad is in: the outermost element that is the ad's own. Pure. */
export function slotOf(page: PageIndex, ref: NodeRef): NodeRef {
  const slot = slotInDocument(page, ref);
  const { owner } = page.documentAt(slot.document);
  if (!owner) return slot;
  const isOfAdServer = frameUrls(candidateAt(page, owner)).some((url) => adServerName(url) !== null);
  return isOfAdServer || fills(page, slot, owner) ? slotOf(page, owner) : slot;
}

function slotInDocument(page: PageIndex, ref: NodeRef): NodeRef {
  const own = page.shownBox(ref);
  let slot = ref;
  let at: NodeRef | null = page.parentOf(ref);
  for (let level = 0; at && level < LEVELS_MAX; level += 1, at = page.parentOf(at)) {
    const { tag } = page.node(at);
    if (tag === 'body' || tag === 'html') break;
    const box = page.shownBox(at);
    if (isSlot(candidateAt(page, at)) && own && box && areaOf(box) <= SLOT_AREA_MAX * areaOf(own)) slot = at;
    else if (own && box && isAround(box, own)) slot = at;
  }
  return slot;
}

const isAround = (outer: Box, inner: Box): boolean =>
  [
    outer.x - inner.x,
    outer.y - inner.y,
    outer.x + outer.width - inner.x - inner.width,
    outer.y + outer.height - inner.y - inner.height,
  ].every((margin) => Math.abs(margin) <= WRAPPER_MARGIN);

function fills(page: PageIndex, slot: NodeRef, owner: NodeRef): boolean {
  const [inner, outer] = [page.shownBox(slot), page.shownBox(owner)];
  return inner !== null && outer !== null && areaOf(inner) >= FILLED_SHARE * areaOf(outer);
}
