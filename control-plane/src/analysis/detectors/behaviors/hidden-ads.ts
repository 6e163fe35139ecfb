import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { SystemTagSlug } from '../../../reference/tags/system-tags.ts';
import type { Detector } from '../detector.ts';
import { AD_SIZES } from './ad-sizes.ts';
import { oneTag, type Sign } from './one-tag.ts';

type Placement = ObservationOf<'placement'>;

/** The side, in CSS pixels, of what nobody sees. */
const POINT = 2;
/** An ad in a frame of one point, as its own size: less than this is a tracker's picture, or a script's frame. */
const STUFFED_SIDES = [88, 31] as const;
/** Of an ad that shines through less than this, nothing is seen. */
const OPACITY_MIN = 0.05;
/** So far above or left of the page, in CSS pixels, is out of reach, and no menu or slide that waits for its turn. */
const OUT_OF_REACH = 500;
/** Two ads in one place: the smaller is covered by this share of it. */
const COVERED_SHARE = 0.8;

/** Ads that are loaded, and count as seen, in a frame or as a picture of one or two pixels. */
export const pixelStuffing = detectorOf('pixel_stuffing', (all) => all.filter(isStuffed));
/** Ads in frames that are transparent, or stand where no visitor can scroll to. */
export const hiddenAd = detectorOf('hidden_ad', (all) => all.filter((one) => isAd(one) && isOutOfSight(one)));
/** Ads that stand upon each other, of which one is seen. */
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
  facts.width <= POINT &&
  facts.height <= POINT &&
  (facts.element === 'image'
    ? AD_SIZES.has(`${facts.content_width}x${facts.content_height}`)
    : facts.content_width >= STUFFED_SIDES[0] && facts.content_height >= STUFFED_SIDES[1]);

const isOutOfSight = ({ facts: { x, y, width, height, opacity } }: Placement): boolean =>
  opacity < OPACITY_MIN || x + width <= -OUT_OF_REACH || y + height <= -OUT_OF_REACH;

function covers({ landing, facts: a }: Placement, { landing: other, facts: b }: Placement): boolean {
  if (landing !== other || a.parent !== b.parent) return false;
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
