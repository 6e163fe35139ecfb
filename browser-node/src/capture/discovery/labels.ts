import { areaOf } from '../box.ts';
import { isFrame, type NodeRef, type PageIndex } from './page-index.ts';
import { leadsElsewhere } from './signals.ts';

/**
 * Signs around a word: no letters or digits of any script (`\W` has all letters that are not Latin), but the
 * letter-like ℹ.
 */
const SIGNS = '(?:[^\\p{L}\\p{N}]|ℹ)*';
/** How publishers mark ads, as a text of its own. */
const LABEL = new RegExp(
  `^${SIGNS}(${[
    ...['ads?', 'advert', 'advertisements?', 'advertising', 'sponsored( content| post| link| links)?', 'sponsor'],
    ...[
      '(sponsored|promoted|presented|paid for) by .{1,60}',
      'promoted',
      'paid (post|content|partner)',
      'partner content',
    ],
    ...['anzeigen?', 'werbung', 'gesponsert', 'publicité', 'annonces?', 'sponsorisé', 'publicidad', 'anuncios?'],
    ...['patrocinado', 'publicidade', 'anúncio', 'pubblicità', 'sponsorizzato', 'annuncio', 'advertentie', 'reklama'],
    ...[
      'reklam',
      'reklame',
      'mainos',
      'annons',
      'реклама',
      // With the advertiser, whom the law requires to be named.
      `реклама${SIGNS}(ооо|ао|пао|зао|ип|erid|инн)(?!\\p{L}).{0,80}`,
      '広告',
      '广告',
      '廣告',
      '광고',
      'إعلان',
      'विज्ञापन',
      'quảng cáo',
    ],
  ].join('|')})${SIGNS}$`,
  'iu',
);
/** Classes, ids and attributes that mark an ad, as whole words. */
const MARKS: ReadonlySet<string> = new Set([
  ...['ad', 'ads', 'advert', 'advertisement', 'sponsored', 'sponsor', 'promoted', 'house-ad', 'sponsored-content'],
]);
const SPONSORED_LINK = /\bsponsored\b/i;
const LABELS_MAX = 200;
const LEVELS_MAX = 5;
/** A block that takes up more of what is in view is a part of the page. */
const VIEW_SHARE_MAX = 0.9;
/** What it leads to is shown at least this large, in square pixels. */
const AREA_MIN = 2_000;

/**
 * The elements that are marked as ads: labels of one word or so, or elements with such a class. At most
 * {@link LABELS_MAX}.
 */
export function labelsIn(page: PageIndex): NodeRef[] {
  const labels: NodeRef[] = [];
  for (const [document, { nodes }] of page.facts.documents.entries())
    for (const [node, { tag, text, attributes, isShown }] of nodes.entries()) {
      if (!isShown) continue;
      const { id = '', class: className = '', rel = '' } = attributes;
      const isMarked =
        tag === '#text'
          ? text.length <= 80 && LABEL.test(text)
          : LABEL.test(attributes['aria-label'] ?? '') ||
            SPONSORED_LINK.test(rel) ||
            `${className} ${id}`
              .toLowerCase()
              .split(/\s+/)
              .some((word) => MARKS.has(word));
      if (isMarked) labels.push({ document, node });
      if (labels.length >= LABELS_MAX) return labels;
    }
  return labels;
}

/**
 * What a label is about: the nearest element around it, or the element itself, that shows more than the label. `block`:
 * one that holds an ad which is known; `own`: one without, which leads to another site than the page's.
 */
export function labelledBy(
  page: PageIndex,
  label: NodeRef,
  holdsBlock: (ref: NodeRef) => boolean,
): { ref: NodeRef; isKnown: boolean } | null {
  const { tag: marked, attributes } = page.node(label);
  let at: NodeRef | null = marked === '#text' ? page.parentOf(label) : label;
  // A link in an article marks itself, and not the picture beside it.
  const levels = SPONSORED_LINK.test(attributes.rel ?? '') ? 1 : LEVELS_MAX;
  for (let level = 0; at && level < levels; level += 1, at = page.parentOf(at)) {
    const { tag } = page.node(at);
    if (tag === 'body' || tag === 'html') return null;
    if (holdsBlock(at)) return { ref: at, isKnown: true };
    const box = page.shownBox(at);
    if (!box || areaOf(box) > VIEW_SHARE_MAX * areaOf({ x: 0, y: 0, ...page.facts.view })) return null;
    const shown = shownIn(page, at);
    const isAd = shown.links > 0 && shown.largest !== null && areaOf(page.node(shown.largest).box) >= AREA_MIN;
    if (isAd && !leadsElsewhere(page, at)) return null;
    if (isAd) return { ref: (shown.links === 1 && shown.largest) || at, isKnown: false };
  }
  return null;
}

const NODES_SEARCHED_MAX = 500;

/** How many links an element has, and the largest of the pictures and frames in it; null: there is none. */
function shownIn(page: PageIndex, ref: NodeRef): { links: number; largest: NodeRef | null } {
  let [links, left] = [0, NODES_SEARCHED_MAX];
  let largest: NodeRef | null = null;
  for (const at of page.within(ref)) {
    const { tag, attributes, box, paints, isShown } = page.node(at);
    if ((tag === 'a' && attributes.href) || /https?:/.test(attributes.onclick ?? '')) links += 1;
    const isPicture = box !== null && isShown && tag !== '#text' && (paints || isFrame(tag));
    if (isPicture && (!largest || areaOf(box) > areaOf(page.node(largest).box))) largest = at;
    left -= 1;
    if (left === 0) break;
  }
  return { links, largest };
}
