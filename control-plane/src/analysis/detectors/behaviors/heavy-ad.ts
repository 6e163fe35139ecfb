import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { AD_SIZES } from './ad-sizes.ts';
import { oneTag, type Sign } from './one-tag.ts';

/** Chrome's limit for the network traffic of one ad (heavy ad intervention). */
const BYTES_OF_HEAVY = 4 * 1024 * 1024;

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
