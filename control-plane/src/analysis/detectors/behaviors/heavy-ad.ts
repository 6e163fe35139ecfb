import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Detector } from '../detector.ts';
import type { Evidence } from '../evidence.ts';
import type { Finding } from '../finding.ts';
import { oneTag, type Sign } from './one-tag.ts';

/** Chrome's limit for the network traffic of one ad (heavy ad intervention). */
const BYTES_OF_HEAVY = 4 * 1024 * 1024;
/** Fixed sizes of display ads in CSS pixels (IAB New Ad Portfolio and its predecessors). */
const AD_SIZES = new Set(
  (
    '88x31 120x20 120x60 120x240 120x600 160x600 168x28 168x42 180x150 200x200 216x36 216x54 240x400 250x250 250x360 ' +
    '300x50 300x100 300x250 300x600 300x1050 300x31 320x50 320x100 320x480 336x280 468x60 480x320 550x480 580x400 ' +
    '640x480 728x90 768x1024 930x180 970x66 970x90 970x250 970x400 980x120 980x240 1024x768'
  ).split(' '),
);

/** Ads that load more than browsers allow one ad. An ad is a frame of a size in which ads are sold, or the creative of an ad tag. */
export const heavyAd: Detector = { name: 'heavy_ad', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  return oneTag('heavy_ad', observationsOf(observations, 'frame_weight').filter(isHeavyAd).map(describeWeight));
}

function isHeavyAd({ landing, facts }: ObservationOf<'frame_weight'>): boolean {
  return facts.bytes >= BYTES_OF_HEAVY && (landing === null || AD_SIZES.has(`${facts.width}x${facts.height}`));
}

function describeWeight({ landing, url, facts }: ObservationOf<'frame_weight'>): Sign {
  const size = landing === null ? '' : ` in a frame of ${facts.width} by ${facts.height}`;
  return { landing, text: `${(facts.bytes / 1_000_000).toFixed(1)} MB${size} at ${url}` };
}
