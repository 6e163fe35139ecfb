import { type Html, html } from '../../http/pages/html.ts';
import { adTone, adWords } from './ad-words.ts';
import { ByteBudget } from './byte-budget.ts';
import type { AdPlace, Report, ReportAd, ReportAdScan, ReportSweep, Size } from './report.ts';

/** Requested width of the picture in pixels. */
const PICTURE_WIDTH = 1_000;

/** Requested width of the picture of an ad in pixels. In its list, the same picture is a thumbnail. */
export const AD_PICTURE_WIDTH = 600;

/** The bytes for the blocks: those that do not fit are only in the list of ads. */
const BLOCKS_BYTES = 100_000;

/**
 * Widths in pixels of a number and of a character of a label, and the height of both, for a picture that is shown in
 * full width.
 */
const NUMBER_WIDTH = 26;
const CHARACTER_WIDTH = 7.5;
const LABEL_HEIGHT = 22;

/**
 * The picture of a sweep's page with its ads drawn on it, each a link to the report of its scan; null: there is no
 * picture.
 */
export function showAdsOnPage({ token }: Report, { ads, page }: ReportSweep): Html | null {
  if (!page) return null;
  const drawn = ads.flatMap((ad) => {
    const box = ad.place && boxOf(ad.place, page);
    return box ? [{ ad, box }] : [];
  });
  // The smaller ones on top, so that all of them can be clicked.
  const blocks = drawn.toSorted((one, other) => areaOf(other.box) - areaOf(one.box));
  const path = `${token}/screenshot`;
  return html`<div class="ad-map" role="region" aria-label="The page with its ads" tabindex="0"><div class="ad-page"><img src="${path}?w=${PICTURE_WIDTH}&amp;whole=yes" width="${Math.round(page.width)}" height="${Math.round(page.height)}" alt="Screenshot of the page"><svg width="100%" height="100%">${new ByteBudget(BLOCKS_BYTES).list(blocks, showBlock)}</svg></div></div>`;
}

/** A part of a picture, in percent of its sides. */
type Box = { left: number; top: number; width: number; height: number };

/** The part of the picture of a page that a block covers; null: none. Pure. */
export function boxOf({ x, y, width, height }: AdPlace, page: Size): Box | null {
  const [left, right] = [x, x + width].map((at) => shareOf(at, page.width));
  const [top, bottom] = [y, y + height].map((at) => shareOf(at, page.height));
  const box = { left: left!, top: top!, width: right! - left!, height: bottom! - top! };
  return box.width > 0 && box.height > 0 ? box : null;
}

const shareOf = (at: number, side: number): number => (100 * Math.min(Math.max(at, 0), side)) / side;
const areaOf = ({ width, height }: Box): number => width * height;
const percent = (share: number): string => `${share.toFixed(3)}%`;

function showBlock({ ad, box }: { ad: ReportAd; box: Box }): Html {
  const { left, top, width, height } = box;
  const drawn = html`<title>${adWords(ad)}</title><svg class="block ${adTone(ad)}${!ad.scan && ' hollow'}" x="${percent(left)}" y="${percent(top)}" width="${percent(width)}" height="${percent(height)}">
${ad.scan && showOwnPicture(ad.scan)}<rect class="area" width="100%" height="100%"/>${showLabel(ad, box)}<rect class="tab" width="${NUMBER_WIDTH}" height="${LABEL_HEIGHT}"/><text class="tab-text" x="${NUMBER_WIDTH / 2}" y="16">${ad.number}</text></svg>`;
  return ad.scan ? html`<a href="${ad.scan.token}">${drawn}</a>` : html`<g>${drawn}</g>`;
}

/**
 * Chromium does not paint frames that are out of view: there, the picture of the page lacks what was in view when the
 * ad was scanned.
 */
const showOwnPicture = ({ token, picture }: ReportAdScan): Html | null =>
  picture &&
  html`<image href="${token}/${picture}?w=${AD_PICTURE_WIDTH}" width="100%" height="100%" preserveAspectRatio="none"/>`;

/** The kind and the network of an ad, as far as there is room for them in its block. */
function showLabel({ kind, network, network_host }: ReportAd, { width, height }: Box): Html | false {
  const room = Math.floor(((width / 100) * PICTURE_WIDTH - NUMBER_WIDTH) / CHARACTER_WIDTH) - 2;
  const name = network || network_host;
  const label = [name && `${kind} · ${name}`, name, kind].find((words) => words !== '' && words.length <= room);
  if (label === undefined || height === 0) return false;
  const length = NUMBER_WIDTH + Math.ceil((label.length + 2) * CHARACTER_WIDTH);
  return html`<g class="label"><rect class="strip" width="${length}" height="${LABEL_HEIGHT}"/><text x="${NUMBER_WIDTH + 8}" y="16">${label}</text></g>`;
}
