import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import type { Box } from '../box.ts';
import type { DocumentSnapshot, Snapshot } from '../devtools/dom-snapshot.ts';
import { ATTRIBUTE_LENGTH_MAX, type PageNode, READ_ATTRIBUTES, URL_ATTRIBUTES } from './page-facts.ts';

/** The computed styles that a document is read with, in this order. */
export const READ_STYLES = [
  ...['display', 'position', 'visibility', 'opacity', 'overflow-x', 'overflow-y', 'background-color'],
  ...['background-image', 'border-left-width', 'border-top-width', 'padding-left', 'padding-top', 'width', 'height'],
] as const;
type Styles = Record<(typeof READ_STYLES)[number], string>;

/** Where the pixels of a document are in the page: `x + scale * x'`. */
export type Origin = { x: number; y: number; scale: number };

/**
 * A document as read from its snapshot, in pixels of its own. `frames`: the nodes of its frames, with the index of the
 * document in them, where it is in the same snapshot; `contentBoxes`: those of its frames' nodes.
 */
export type ReadDocument = {
  nodes: PageNode[];
  baseUrl: string;
  frames: Map<number, number>;
  contentBoxes: Map<number, Box>;
  view: { width: number; height: number; scrollX: number; scrollY: number };
  size: { width: number; height: number };
};

const ELEMENT = 1;
const TEXT = 3;
const FRAGMENT = 11;
/** Elements that draw something by themselves. */
const DRAWN = new Set(['img', 'video', 'canvas', 'svg', 'object', 'embed', 'image']);
const FRAMES = new Set(['iframe', 'frame', 'object', 'embed', 'fencedframe']);
/** An element with a side below this, in pixels, shows nothing: pixels that count are 1 by 1. */
const SIDE_MIN = 5;

/**
 * Reads a document of a snapshot that was taken with {@link READ_STYLES}; `ratio`: snapshot pixels per CSS pixel. Pure.
 */
export function readDocument(snapshot: Snapshot, document: DocumentSnapshot, ratio: number): ReadDocument {
  const { strings } = snapshot;
  const { nodes: source, layout } = document;
  const stringAt = (index: number | undefined): string =>
    index === undefined || index < 0 ? '' : (strings[index] ?? '');
  const layoutOf = new Map(layout.nodeIndex.map((node, index) => [node, index]));
  const stylesAt = (index: number): Styles =>
    Object.fromEntries(READ_STYLES.map((name, at) => [name, stringAt(layout.styles[index]?.[at])])) as Styles;
  const boxAt = (index: number): Box | null => {
    const [x, y, width, height] = layout.bounds[index] ?? [];
    if (x === undefined || y === undefined || width === undefined || height === undefined) return null;
    return { x: x / ratio, y: y / ratio, width: width / ratio, height: height / ratio };
  };
  const nodes: PageNode[] = [];
  const hidden: boolean[] = [];
  const contentBoxes = new Map<number, Box>();
  const { index: pictures = [], value: pictureUrls = [] } = source.currentSourceURL ?? {};
  const pictureUrlOf = new Map(pictures.map((node, at) => [node, stringAt(pictureUrls[at])]));
  for (const [index, parent] of (source.parentIndex ?? []).entries()) {
    const type = source.nodeType?.[index] ?? 0;
    const laidOut = layoutOf.get(index);
    const styles = laidOut === undefined ? null : stylesAt(laidOut);
    const box = laidOut === undefined ? null : boxAt(laidOut);
    const tag = tagOf(type, stringAt(source.nodeName?.[index]));
    if (FRAMES.has(tag) && box && styles) contentBoxes.set(index, contentBox(box, styles));
    hidden.push((hidden[parent] ?? false) || (styles !== null && box !== null && hides(styles, box)));
    const pictureUrl = pictureUrlOf.get(index) ?? '';
    nodes.push({
      parent,
      tag,
      attributes: type === ELEMENT ? readAttributes(source.attributes?.[index] ?? [], stringAt) : {},
      ...(pictureUrl !== '' && { pictureUrl }),
      text: type === TEXT ? stringAt(source.nodeValue?.[index]).slice(0, ATTRIBUTE_LENGTH_MAX) : '',
      box,
      isShown: box !== null && !hidden[index] && styles?.visibility !== 'hidden' && box.width > 0 && box.height > 0,
      paints: box !== null && paints(type, tag, styles, box, stringAt(source.nodeValue?.[index])),
      position: styles?.position ?? '',
      backendNodeId: source.backendNodeId?.[index] ?? 0,
    });
  }
  const { index = [], value = [] } = source.contentDocumentIndex ?? {};
  const [view] = layout.nodeIndex.length > 0 ? [boxAt(0)] : [null];
  return {
    nodes,
    baseUrl: stringAt(document.baseURL),
    frames: new Map(index.map((node, at) => [node, value[at] ?? -1])),
    contentBoxes,
    view: {
      width: view?.width ?? 0,
      height: view?.height ?? 0,
      scrollX: (document.scrollOffsetX ?? 0) / ratio,
      scrollY: (document.scrollOffsetY ?? 0) / ratio,
    },
    size: { width: (document.contentWidth ?? 0) / ratio, height: (document.contentHeight ?? 0) / ratio },
  };
}

const tagOf = (type: number, name: string): string => {
  if (type === TEXT) return '#text';
  return type === FRAGMENT ? '#shadow' : name.toLowerCase();
};

function readAttributes(pairs: readonly number[], stringAt: (index: number | undefined) => string) {
  const attributes: Record<string, string> = {};
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = stringAt(pairs[at]);
    const length = URL_ATTRIBUTES.has(name) ? CAPTURE_URL_LENGTH_MAX : ATTRIBUTE_LENGTH_MAX;
    if (READ_ATTRIBUTES.has(name)) attributes[name] = stringAt(pairs[at + 1]).slice(0, length);
  }
  return attributes;
}

/** Whether an element hides all that is in it: it is transparent, or has no extent and cuts off what is outside. */
function hides(styles: Styles, { width, height }: Box): boolean {
  // A document itself has no styles.
  if (styles.opacity !== '' && Number(styles.opacity) < 0.02) return true;
  const cuts = (overflow: string) => overflow !== 'visible' && overflow !== '';
  return (width < SIDE_MIN && cuts(styles['overflow-x'])) || (height < SIDE_MIN && cuts(styles['overflow-y']));
}

function paints(type: number, tag: string, styles: Styles | null, { width, height }: Box, text: string): boolean {
  if (type === TEXT) return text.trim() !== '';
  if (type !== ELEMENT || !styles || width < SIDE_MIN || height < SIDE_MIN) return false;
  if (DRAWN.has(tag)) return true;
  // A document's own background is drawn in empty frames too.
  if (tag === 'html' || tag === 'body') return /url\(/.test(styles['background-image']);
  return styles['background-image'] !== 'none' && styles['background-image'] !== '';
}

/** The content box of a frame's element; a transform scales its border and padding as well. */
function contentBox(box: Box, styles: Styles): Box {
  const pixels = (name: keyof Styles) => Number.parseFloat(styles[name]) || 0;
  const [left, top] = [
    pixels('border-left-width') + pixels('padding-left'),
    pixels('border-top-width') + pixels('padding-top'),
  ];
  const [width, height] = [pixels('width'), pixels('height')];
  // Percentages and `auto` are resolved in computed values; where they are not, the border box is the best that is
  // known.
  if (width === 0 || height === 0) return box;
  return { x: box.x + left, y: box.y + top, width: box.width - 2 * left, height: box.height - 2 * top };
}

/** A box of a document in the pixels of the page. Pure. */
export const inPage = ({ x, y, width, height }: Box, { x: left, y: top, scale }: Origin): Box => ({
  x: left + x * scale,
  y: top + y * scale,
  width: width * scale,
  height: height * scale,
});
