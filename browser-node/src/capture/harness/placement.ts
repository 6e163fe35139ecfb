import { mraid } from '../page-scripts/mraid.ts';
import { isOfServer } from '../session/urls.ts';
import type { OwnAnswer } from './page-loads.ts';

/** The size of a placement in CSS pixels. */
export type PlacementSize = { width: number; height: number };

const DEFAULT_SIZE: PlacementSize = { width: 300, height: 250 };
const SIZES = [
  /\bwidth\s*[=:]\s*["']?(\d{2,4})(?![\d%])(?:px)?[^>]{0,60}?\bheight\s*[=:]\s*["']?(\d{2,4})(?![\d%])/i,
  /\[\s*(\d{2,4})\s*,\s*(\d{2,4})\s*\]/,
  /\b(\d{2,4})x(\d{2,4})\b/i,
];

/** The size in a tag's attributes, styles or a list such as `[300, 250]`; else that of a medium rectangle. Pure. */
export function placementSize(tag: string): PlacementSize {
  for (const pattern of SIZES) {
    const [, width, height] = pattern.exec(tag) ?? [];
    const size = { width: Number(width), height: Number(height) };
    if (size.width >= 20 && size.width <= 2_000 && size.height >= 20 && size.height <= 2_000) return size;
  }
  return DEFAULT_SIZE;
}

/** The selector of the placement on the harness page. */
export const SLOT = '#ad-slot';

/** The HTML of a harness page with a tag in a placement: a snippet as it is, or a frame for a URL. Pure. */
export function placementPage(host: string, tag: string): string {
  const isUrl = isTagUrl(tag);
  const { width, height } = placementSize(tag);
  const size = isUrl ? 'width:100vw;height:100vh' : `width:${width}px;height:${height}px`;
  const slot = isUrl
    ? `<iframe src="${escapeAttribute(tag.trim())}" style="width:100%;height:100%;border:0;display:block"></iframe>`
    : tag;
  return (
    '<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">' +
    `<link rel="icon" href="data:,"><title>${host}</title></head>` +
    `<body style="margin:0"><div id="ad-slot" style="${size}">${slot}</div></body></html>`
  );
}

/** Whether an ad tag is the URL of a page with the creative, not markup. */
export const isTagUrl = (tag: string): boolean => isOfServer(tag.trim()) && URL.canParse(tag.trim());

/**
 * A comment, up to where parsers see its end: one that is not closed contains all that follows (HTML, 13.2.5.43 to 52).
 */
const COMMENT = /<!--(?:-?>|[\s\S]*?(?:--!?>|$))/g;

/**
 * Whether a snippet has any element: without one, a browser has nothing to show. Takes linear time on any input. Pure.
 */
export const hasElement = (snippet: string): boolean => /<[a-z]/i.test(snippet.replace(COMMENT, ''));

const escapeAttribute = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/** Answers a request for `mraid.js` at any URL: the container provides it (MRAID 3.0, 3.1). */
export const mraidAnswer: OwnAnswer = (request) => {
  const isMraid = request.resourceType() === 'script' && /\/mraid\.js$/i.test(URL.parse(request.url())?.pathname ?? '');
  if (!isMraid) return null;
  return { status: 200, contentType: 'text/javascript; charset=utf-8', headers: {}, body: `(${mraid})();` };
};
