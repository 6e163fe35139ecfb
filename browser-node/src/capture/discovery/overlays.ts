import { areaOf, type Box, sharedArea } from '../box.ts';
import type { NodeRef, PageIndex } from './page-index.ts';

/** An ad that takes up this share of what is in view lies over the page. */
const COVERED_SHARE = 0.5;
const CLOSES =
  /(^|[\s_-])(close|dismiss|skip|schlie(ß|ss)en|fermer|cerrar|chiudi|fechar|sluiten|zamknij|закрыть)([\s_-]|btn|button|ad|$)/i;
const CLOSES_AS_TEXT =
  /^\s*([×✕✖✗╳⨯xX]|close( ad)?|skip( ad)?|dismiss|no,? thanks|continue( to .{1,40})?|schließen|fermer|cerrar)\s*[×»>]?\s*$/iu;
const NODES_SEARCHED_MAX = 3_000;
/** A button is at most this large, in square pixels. */
const BUTTON_AREA_MAX = 20_000;

/** An element that covers the page, with what closes it (null: nothing was found). */
export type Overlay = { ref: NodeRef; closeButton: NodeRef | null };

/** The overlay that a slot is, or lies on; null: the slot covers nothing. Pure. */
export function overlayOf(page: PageIndex, slot: NodeRef): Overlay | null {
  const fixed = pinnedAround(page, slot).findLast((ref) => page.node(ref).position === 'fixed');
  const box = fixed && page.node(fixed).box;
  const { start = { x: 0, y: 0 } } = page.facts;
  const view: Box = { ...start, ...page.facts.view };
  if (!fixed || !box || sharedArea(box, view) < COVERED_SHARE * areaOf(view)) return null;
  return { ref: fixed, closeButton: closeButtonIn(page, fixed) };
}

/** Positions that do not scroll with the page. */
const PINNED: ReadonlySet<string> = new Set(['fixed', 'sticky']);

/**
 * A slot and the elements around it, innermost first, that do not scroll with the page: not those that hold the page,
 * as where it scrolls in a fixed element, or is kept from scrolling by one. Pure.
 */
export const pinnedAround = (page: PageIndex, slot: NodeRef): NodeRef[] =>
  [slot, ...page.around(slot)].filter((ref) => PINNED.has(page.node(ref).position) && !holdsPage(page, ref));

/** Whether an element holds most of what its document shows. */
function holdsPage(page: PageIndex, { document, node }: NodeRef): boolean {
  const shown = page.ofDocument(document, countShown);
  return (shown[node] ?? 0) > (shown[0] ?? 0) / 2;
}

/** How many pictures and texts are shown in each node of a document, without those in frames. */
function countShown(page: PageIndex, document: number): number[] {
  const { nodes } = page.documentAt(document);
  const counts = nodes.map(({ isShown, paints }) => Number(isShown && paints));
  for (let node = nodes.length - 1; node > 0; node -= 1) {
    const parent = nodes[node]?.parent ?? -1;
    if (parent >= 0) counts[parent] = (counts[parent] ?? 0) + (counts[node] ?? 0);
  }
  return counts;
}

/** The element that closes an overlay: of several, one outside of frames, then the smallest. */
function closeButtonIn(page: PageIndex, overlay: NodeRef): NodeRef | null {
  const found: { ref: NodeRef; isInFrame: boolean; area: number }[] = [];
  let left = NODES_SEARCHED_MAX;
  for (const ref of page.within(overlay)) {
    left -= 1;
    if (left === 0) break;
    const { tag, text, attributes, isShown, box } = page.node(ref);
    const at = tag === '#text' && CLOSES_AS_TEXT.test(text) ? page.parentOf(ref) : ref;
    const words = [attributes['aria-label'], attributes.title, attributes.class, attributes.id, attributes.alt];
    const isNamed = tag !== '#text' && words.some((word) => word !== undefined && CLOSES.test(word));
    const shown = at ? page.node(at).box : box;
    const isButton =
      at !== null && isShown && shown !== null && areaOf(shown) <= BUTTON_AREA_MAX && (isNamed || at !== ref);
    if (isButton) found.push({ ref: at, isInFrame: at.document !== overlay.document, area: areaOf(shown) });
  }
  const [best] = found.sort((a, b) => Number(a.isInFrame) - Number(b.isInFrame) || a.area - b.area);
  return best?.ref ?? null;
}
