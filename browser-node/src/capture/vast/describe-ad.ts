import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import { parseClock } from '@adsweep/shared/vast/clock.ts';
import type { VastAd, VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { clipUrl } from '../session/urls.ts';
import { absolute } from './declared-trackers.ts';
import { clickThroughOf } from './precedence.ts';
import type { Resolution, ResolvedAd } from './resolution.ts';

const WORD_MAX = 300;
const WORDS_MAX = 50;
const VPAID = /^vpaid$/i;

/** The video of an ad that is played: the first that has a file, else the first. Pure. */
export const linearOf = ({ linears }: VastAd): VastLinear | undefined =>
  linears.find(({ mediaFiles }) => mediaFiles.length > 0) ?? linears[0];

/** What an ad's documents say of it, as the record of an ad that was not shown. Pure. */
export function describeAd(resolution: Resolution, resolved: ResolvedAd): PlayedAd {
  const { rung, ad, wrappers } = resolved;
  const linear = linearOf(ad);
  const { document, fetched } = resolution.rungs[rung] ?? {};
  return {
    rung,
    wrappers: wrappers.map((at) => at.rung),
    position: document?.ads.indexOf(ad) ?? 0,
    id: word(ad.id),
    sequence: ad.sequence,
    ad_system: word(ad.adSystem),
    title: word(ad.adTitle),
    advertiser: word(ad.advertiser),
    shown: 'nothing',
    duration_ms: linear?.duration ? parseClock(linear.duration) : null,
    played_ms: 0,
    click_through: clipUrl(clickThroughOf(resolution, resolved)),
    error_code: null,
    mediafile_url: clipUrl(absolute(linear?.mediaFiles[0]?.url ?? '', fetched?.url ?? '')),
    media: [],
    media_files: linear?.mediaFiles.length ?? 0,
    companions: [],
    verifications: verificationsOf(resolved),
    interactive: ad.linears
      .flatMap(({ interactiveFiles }) => interactiveFiles.map(({ apiFramework }) => word(apiFramework)))
      .slice(0, WORDS_MAX),
    is_vpaid:
      ad.linears.some(({ mediaFiles }) => mediaFiles.some(({ apiFramework }) => VPAID.test(apiFramework))) ||
      ad.nonLinears.some(({ apiFramework }) => VPAID.test(apiFramework)),
  };
}

/** Of wrappers, too (VAST 4.3, 3.17). */
const verificationsOf = ({ ad, wrappers }: ResolvedAd): string[] =>
  [...wrappers.map((at) => at.ad), ad]
    .flatMap(({ verifications }) => verifications)
    .slice(0, WORDS_MAX)
    .map(({ vendor, resources }) => word(vendor || (resources[0]?.apiFramework ?? '')));

const word = (text: string): string => text.slice(0, WORD_MAX).toWellFormed();
