import type { Box } from './page-facts.ts';
import { areaOf, type NodeRef, type PageIndex, sharedArea } from './page-index.ts';

/** An ad that takes up this share of what is in view lies over the page. */
const COVERED_SHARE = 0.5;
const CLOSES =
  /(^|[\s_-])(close|dismiss|skip|schlie(ß|ss)en|fermer|cerrar|chiudi|fechar|sluiten|zamknij|закрыть)([\s_-]|btn|button|ad|$)/i;
const CLOSES_AS_TEXT =
  /^\s*([×✕✖✗╳⨯xX]|close( ad)?|skip( ad)?|dismiss|no,? thanks|continue( to .{1,40})?|schließen|fermer|cerrar)\s*[×»>]?\s*$/iu;
const NODES_SEARCHED_MAX = 3_000;
/** A button is at most this large, in square pixels. */
const BUTTON_AREA_MAX = 20_000;

/** Whether a slot, or what it lies on, covers the page, with what closes it (null: nothing was found). Pure. */
export function overlayOf(
  page: PageIndex,
  slot: NodeRef,
  scrollTop = 0,
): { coversPage: boolean; closeButton: NodeRef | null } {
  const fixed = [slot, ...page.around(slot)].filter((ref) => page.node(ref).position === 'fixed').at(-1);
  const box = fixed && page.node(fixed).box;
  const view: Box = { x: 0, y: scrollTop, ...page.facts.view };
  if (!fixed || !box || sharedArea(box, view) < COVERED_SHARE * areaOf(view))
    return { coversPage: false, closeButton: null };
  return { coversPage: true, closeButton: closeButtonIn(page, fixed) };
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
