/** A visible element: its own size in CSS pixels, and its URL if it has one. */
export type Content = { width: number; height: number; url: string };
/**
 * The largest visible element of a document, null: there is none; and the images that are shown as a single point, with
 * their positions.
 */
export type DocumentContents = {
  largest: Content | null;
  points: (Content & { x: number; y: number; shown: number })[];
};

/**
 * Runs in the page, in an isolated world: the visible elements of a document. Properties are read through prototypes.
 */
export function readContents(limits: {
  elements: number;
  points: number;
  side: number;
  url: number;
}): DocumentContents {
  const POINT = 2;
  const boxOf = Element.prototype.getBoundingClientRect;
  const found: DocumentContents = { largest: null, points: [] };
  const urlOf = (element: Element): string =>
    element instanceof HTMLImageElement
      ? String(Reflect.get(HTMLImageElement.prototype, 'currentSrc', element)).slice(0, limits.url)
      : '';
  const sizeOf = (element: Element): { width: number; height: number } => {
    const { width, height } = boxOf.call(element);
    if (!(element instanceof HTMLImageElement)) return { width, height };
    const natural = (name: string): number => Reflect.get(HTMLImageElement.prototype, name, element);
    const isLoaded = natural('naturalWidth') > 0;
    return isLoaded
      ? { width: Math.max(width, natural('naturalWidth')), height: Math.max(height, natural('naturalHeight')) }
      : { width: 0, height: 0 };
  };
  const elements = Document.prototype.querySelectorAll.call(document, 'img, video, canvas, iframe, object, embed');
  for (let index = 0; index < elements.length && index < limits.elements; index++) {
    const element = elements[index] as Element;
    const { width, height } = sizeOf(element);
    if (width < limits.side || height < limits.side) continue;
    const { largest } = found;
    if (!largest || width * height > largest.width * largest.height)
      found.largest = { width: Math.round(width), height: Math.round(height), url: urlOf(element) };
    if (!(element instanceof HTMLImageElement) || found.points.length >= limits.points) continue;
    const box = boxOf.call(element);
    const shown = Math.max(box.width, box.height);
    if (shown > 0 && shown <= POINT && Element.prototype.checkVisibility.call(element))
      found.points.push({
        width,
        height,
        url: urlOf(element),
        x: Math.round(box.x + scrollX),
        y: Math.round(box.y + scrollY),
        shown: Math.ceil(shown),
      });
  }
  return found;
}

/**
 * Runs in the page, in an isolated world, on the owner element of a frame: the box of the frame's content, without its border, and its
 * opacity. `x` is from the side of the page where its lines begin. null: it has no box.
 */
export function readPlace(
  this: Element,
): { x: number; y: number; width: number; height: number; opacity: number; isFixed: boolean } | null {
  const rect = Element.prototype.getBoundingClientRect.call(this);
  const of = (owner: { prototype: object }, name: string): number => Reflect.get(owner.prototype, name, this);
  if (Element.prototype.getClientRects.call(this).length === 0) return null;
  const isTop = window.parent === window;
  // A transformation changes the box and not the size that the frame itself reports.
  const scaleX = rect.width / (of(HTMLElement, 'offsetWidth') || 1);
  const scaleY = rect.height / (of(HTMLElement, 'offsetHeight') || 1);
  let opacity = 1;
  /** Whether an element is clipped so that no more than a point of what is in it is drawn. */
  const isNothing = ({ clip, clipPath, position, overflowX, overflowY }: CSSStyleDeclaration, at: Element): boolean => {
    const isCut = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
    const sideOf = (name: string): number => Reflect.get(Element.prototype, name, at);
    if (
      at !== this &&
      isCut(overflowX) &&
      isCut(overflowY) &&
      Math.max(sideOf('clientWidth'), sideOf('clientHeight')) <= 2
    )
      return true;
    if (/^(circle\(0|ellipse\(0|inset\((50|100)%\))/.test(clipPath)) return true;
    const [top = 0, right = 0, bottom = 0, left = 0] = (clip.match(/-?[\d.]+(?=px)/g) ?? []).map(Number);
    return clip.startsWith('rect(') && /absolute|fixed/.test(position) && (right - left <= 2 || bottom - top <= 2);
  };
  // What an element is drawn in: a slot, or the host of a shadow root, closed ones included.
  const around = (at: Element): Element | null => {
    const slot: Element | null = Reflect.get(Element.prototype, 'assignedSlot', at);
    const parent: Node | null = slot ?? Reflect.get(Node.prototype, 'parentNode', at);
    return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
  };
  let isFixed = false;
  for (let at: Element | null = this; at; at = around(at)) {
    const style = getComputedStyle(at);
    opacity *= Number(style.opacity);
    for (const [, amount = '1'] of style.filter.matchAll(/opacity\(([\d.]+)\)/g)) opacity *= Number(amount);
    if (style.position === 'fixed') isFixed = true;
    if (isNothing(style, at)) opacity = 0;
  }
  // One that is fixed to the view may be shown on scrolling.
  if (!isFixed && getComputedStyle(this).visibility !== 'visible') opacity = 0;
  const x = rect.x + of(Element, 'clientLeft') * scaleX + (isTop ? scrollX : 0);
  const width = of(Element, 'clientWidth') * scaleX;
  // A page in Arabic or Hebrew begins at its right side, and can be scrolled to the left.
  const [root, body] = ['documentElement', 'body'].map((name) => Reflect.get(Document.prototype, name, document));
  const isMirrored = isTop && getComputedStyle(body ?? root).direction === 'rtl';
  return {
    x: isMirrored ? Reflect.get(Element.prototype, 'clientWidth', root) - x - width : x,
    y: rect.y + of(Element, 'clientTop') * scaleY + (isTop ? scrollY : 0),
    width,
    height: of(Element, 'clientHeight') * scaleY,
    opacity,
    isFixed,
  };
}
