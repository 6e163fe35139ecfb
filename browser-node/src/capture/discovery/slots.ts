import { areaOf, type Box } from '../box.ts';
import { adServerName } from './ad-servers.ts';
import { isFrame, type NodeRef, type PageIndex } from './page-index.ts';
import { candidateAt, frameUrls } from './signals.ts';

/** Elements around an ad that may be its slot: further ones are the page. */
const LEVELS_MAX = 12;
/** Pixels by which the boxes of an ad and of an element that only wraps it may differ on each side. */
const WRAPPER_MARGIN = 4;
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
  const inner = tighten(page, ref);
  const own = page.shownBox(inner);
  let slot = inner;
  let at: NodeRef | null = page.parentOf(inner);
  for (let level = 0; at && level < LEVELS_MAX; level += 1, at = page.parentOf(at)) {
    const { tag } = page.node(at);
    if (tag === 'body' || tag === 'html') break;
    const box = page.shownBox(at);
    if (own && box && isAround(box, own)) slot = at;
  }
  return slot;
}

/**
 * The part of an element that shows something, if it is one element: a slot may be as wide as its column, and its ad is
 * not.
 */
function tighten(page: PageIndex, ref: NodeRef): NodeRef {
  let at = ref;
  for (let level = 0; level < LEVELS_MAX && !isDrawn(page, at); level += 1) {
    const shown = page.childrenOf(at).filter((child) => page.shows(child));
    const [only] = shown;
    if (!only || shown.length > 1 || page.node(only).tag === '#text') break;
    at = only;
  }
  return page.node(at).tag === '#shadow' ? ref : at;
}

const isDrawn = (page: PageIndex, ref: NodeRef): boolean => {
  const { tag, paints } = page.node(ref);
  return isFrame(tag) || tag === 'a' || paints;
};

/** Pixels by which what is around the items of a native widget may be higher than they are: its headline. */
const HEADLINE_MAX = 60;

/** What is around the items of a native widget: with its headline. Pure. */
export function widgetAround(page: PageIndex, ref: NodeRef): NodeRef {
  const own = page.shownBox(ref);
  const parent = page.parentOf(ref);
  const box = parent && page.shownBox(parent);
  if (!own || !parent || !box || page.node(parent).tag === 'body') return ref;
  const isOwn = Math.abs(box.x - own.x) <= WRAPPER_MARGIN && Math.abs(box.width - own.width) <= WRAPPER_MARGIN;
  return isOwn && box.height - own.height <= HEADLINE_MAX ? parent : ref;
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
