import { type Html, html } from '../../http/pages/html.ts';
import type { AdPlace, Report, ReportNeighbour, ReportPlace, Size } from './report.ts';

/** Requested width of the picture in pixels. */
const PICTURE_WIDTH = 600;
/** The largest height of the map, in its widths. */
const HEIGHT_MAX = 1.2;

/**
 * Links to the report of the sweep and to the ads before and after this one; null: it is no scan of an ad on a page.
 */
export function showNeighbours({ place }: Report): Html | null {
  if (!place) return null;
  const { page, previous, next } = place;
  const all = page && html`<a href="${page.token}">All ads of the page</a>`;
  return html`<nav class="neighbours" aria-label="Ads of the page">${all}${showNeighbour(previous, 'prev', 'Previous ad')}${showNeighbour(next, 'next', 'Next ad')}</nav>`;
}

const showNeighbour = (one: ReportNeighbour | null, rel: 'prev' | 'next', words: string): Html | null =>
  one && html`<a rel="${rel}" href="${one.token}">${words}: ${one.number}</a>`;

/** The page with this ad marked on it; null: the ad is a pop, or there is no picture of the page. */
export function showPlace({ token: own, creative, place }: Report): Html | null {
  if (!place?.ad.place || !place.page?.size) return null;
  const { token, size } = place.page;
  const { x, y, width, height } = place.ad.place;
  const ad =
    creative?.picture === true &&
    html`<image href="${own}/creative-screenshot?w=${PICTURE_WIDTH}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none"/>`;
  const others = `M0 0H${size.width}V${size.height}H0ZM${x} ${y}h${width}v${height}h${-width}Z`;
  const part = partAround(place.ad.place, size);
  const image = html`<image href="${token}/screenshot?w=${PICTURE_WIDTH}&amp;whole=yes" width="${size.width}" height="${size.height}"/>`;
  return html`<figure class="card place"><h2>Place on the page</h2><a href="${token}"><svg viewBox="0 ${part.top} ${size.width} ${part.height}" role="img" aria-label="The page with this ad marked">${image}${ad}<path class="shade" fill-rule="evenodd" d="${others}"/><rect class="around" x="${x}" y="${y}" width="${width}" height="${height}"/></svg></a>
<figcaption>${placeWords(place, part.height < size.height)}</figcaption></figure>`;
}

/** The part of a page that the map shows: all of it, or if it is too tall, what is around the ad. Pure. */
export function partAround({ y, height }: AdPlace, page: Size): { top: number; height: number } {
  const shown = Math.min(page.height, page.width * HEIGHT_MAX);
  const top = Math.min(Math.max(y + height / 2 - shown / 2, 0), page.height - shown);
  return { top, height: shown };
}

function placeWords({ ad }: ReportPlace, isPart: boolean): string {
  const { x, y, width, height } = ad.place!;
  const part = isPart ? ' The map shows the part of the page around it.' : '';
  return `Ad ${ad.number}: ${width} × ${height} pixels, ${x} from the left and ${y} from the top of the page.${part}`;
}
