import { adSizes } from '@adsweep/shared/ads/ad-sizes.ts';
import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { SystemTagSlug } from '../../../reference/tags/system-tags.ts';
import { type Detector, oneTag, type Sign } from '../detector.ts';

/** Sizes of frames that hold an ad. Frames with players of videos, buttons and thumbnails have the other ones. */
export const AD_SIZES = adSizes('common', 'rare', 'exact');

type Placement = ObservationOf<'placement'>;

/** The longest side of an invisible frame, in CSS pixels. */
const PIXEL_MAX = 2;
/** The least size of the content of an ad frame: smaller ones are tracking pixels, or frames of scripts. */
const STUFFED_SIDES = [88, 31] as const;
/** Below this opacity, an ad is invisible. */
const OPACITY_MIN = 0.05;
/** How far above or left of the page an ad cannot be reached, in CSS pixels. Menus and slides wait closer to it. */
const OUT_OF_REACH = 500;
/** Ads are stacked if the larger one covers this share of the smaller. */
const COVERED_SHARE = 0.8;

/** Ads in frames or images of one or two pixels: they load, and count as seen. */
export const pixelStuffing = detectorOf('pixel_stuffing', (all) => all.filter(isStuffed));
/** Ads in frames that are transparent, or out of reach of scrolling. */
export const hiddenAd = detectorOf('hidden_ad', (all) => all.filter((one) => isAd(one) && isOutOfSight(one)));
/** Ads on top of each other, of which only one is visible. */
export const stackedAds = detectorOf('stacked_ads', (all) => {
  const seen = all.filter((one) => isAd(one) && !isOutOfSight(one));
  return seen.filter((one, index) => seen.slice(0, index).some((other) => covers(one, other)));
});

function detectorOf(slug: SystemTagSlug, choose: (all: Placement[]) => Placement[]): Detector {
  return {
    name: slug,
    needs: [],
    detect: ({ observations }) =>
      oneTag(slug, choose(observationsOf(observations, 'placement')).map(describePlacement)),
  };
}

const isAd = ({ facts }: Placement): boolean =>
  facts.element === 'frame' &&
  AD_SIZES.has(`${facts.width}x${facts.height}`) &&
  facts.content_width * facts.content_height * 2 >= facts.width * facts.height;

const isStuffed = ({ facts }: Placement): boolean =>
  facts.width <= PIXEL_MAX &&
  facts.height <= PIXEL_MAX &&
  (facts.element === 'image'
    ? AD_SIZES.has(`${facts.content_width}x${facts.content_height}`)
    : facts.content_width >= STUFFED_SIDES[0] && facts.content_height >= STUFFED_SIDES[1]);

const isOutOfSight = ({ facts: { x, y, width, height, opacity } }: Placement): boolean =>
  opacity < OPACITY_MIN || x + width <= -OUT_OF_REACH || y + height <= -OUT_OF_REACH;

function covers({ landing, facts: a }: Placement, { landing: other, facts: b }: Placement): boolean {
  if (landing !== other || a.parent !== b.parent) return false;
  // What stays on the screen lies over the page only until that is scrolled.
  if ((a.is_fixed ?? false) !== (b.is_fixed ?? false)) return false;
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  const smaller = Math.min(a.width * a.height, b.width * b.height);
  return width > 0 && height > 0 && width * height >= smaller * COVERED_SHARE;
}

function describePlacement({ landing, url, facts }: Placement): Sign {
  const { width, height, x, y, opacity, content_width, content_height, content_url } = facts;
  const content = `${content_width} by ${content_height} of ${facts.element === 'image' ? content_url : url}`;
  return { landing, text: `${content} in ${width} by ${height} at ${x}, ${y} with an opacity of ${opacity}` };
}
