import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import { parseClock } from '@adsweep/shared/vast/clock.ts';
import type { VastAd, VastCompanionAds, VastIcon, VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { clipUrl } from '../session/urls.ts';
import { absolute, baseUrl, type Resolution, type ResolvedAd } from './wrapper-chain.ts';

/** The video of an ad that is played: the first that has a media file, else the first. Pure. */
export const linearOf = ({ linears }: VastAd): VastLinear | undefined =>
  linears.find(({ mediaFiles }) => mediaFiles.length > 0) ?? linears[0];

/**
 * An element that an ad or its wrappers offer: the ad's own, else that of the wrapper closest to it (VAST 4.3,
 * 2.3.5.2). URLs in it are relative to `base`.
 */
type WithBase<T> = T & { base: string };

/** The landing page of a click on the video, '' = none. Pure. */
export function clickThroughOf(resolution: Resolution, resolved: ResolvedAd): string {
  for (const { document, ad } of closestFirst(resolved)) {
    const url = ad.linears.find(({ clickThrough }) => clickThrough !== '')?.clickThrough;
    if (url) return absolute(url, baseUrl(resolution, document));
  }
  return '';
}

/** The companions to show. Pure. */
export function companionAdsOf(
  resolution: Resolution,
  resolved: ResolvedAd,
): WithBase<{ companionAds: VastCompanionAds[] }> {
  const isSome = ({ companions }: VastCompanionAds) => companions.length > 0;
  const found = closestFirst(resolved).find(({ ad }) => ad.companionAds.some(isSome)) ?? resolved;
  return { companionAds: found.ad.companionAds, base: baseUrl(resolution, found.document) };
}

/** The icons to show over a video of the ad: all of them, but one of each program (VAST 4.3, 3.11). Pure. */
export function iconsOf(
  resolution: Resolution,
  resolved: ResolvedAd,
  linear: VastLinear,
): WithBase<{ icon: VastIcon }>[] {
  const all = closestFirst(resolved).flatMap(({ document, ad }) =>
    (ad === resolved.ad ? [linear] : ad.linears)
      .flatMap(({ icons }) => icons)
      .map((icon) => ({ icon, base: baseUrl(resolution, document) })),
  );
  const programs = all.map(({ icon }) => icon.program.toLowerCase());
  return all.filter((_, at) => programs[at] === '' || programs.indexOf(programs[at] as string) === at);
}

const closestFirst = ({ document, ad, wrappers }: ResolvedAd) => [{ document, ad }, ...wrappers.toReversed()];

const WORD_MAX = 300;
const WORDS_MAX = 50;
const VPAID = /^vpaid$/i;

/** The record of an ad as its documents describe it, before anything is shown. Pure. */
export function describeAd(resolution: Resolution, resolved: ResolvedAd): PlayedAd {
  const { document, ad, wrappers } = resolved;
  const linear = linearOf(ad);
  return {
    rung: document,
    wrappers: wrappers.map((wrapper) => wrapper.document),
    position: resolution.chain[document]?.vast?.ads.indexOf(ad) ?? 0,
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
    mediafile_url: clipUrl(absolute(linear?.mediaFiles[0]?.url ?? '', baseUrl(resolution, document))),
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
    is_nonlinear: ad.linears.length === 0 && ad.nonLinears.length > 0,
  };
}

/** What the record names a verification script that names neither vendor nor API, nor has a URL. */
const UNNAMED = 'unnamed';

/** The vendors of verification scripts, else their APIs or hosts, its wrappers' included (VAST 4.3, 3.17). */
const verificationsOf = ({ ad, wrappers }: ResolvedAd): string[] =>
  [...wrappers.map((wrapper) => wrapper.ad), ad]
    .flatMap(({ verifications }) => verifications)
    .slice(0, WORDS_MAX)
    .map(({ vendor, resources: [resource] }) =>
      word(vendor || resource?.apiFramework || URL.parse(resource?.url ?? '')?.hostname || UNNAMED),
    );

const word = (text: string): string => text.slice(0, WORD_MAX).toWellFormed();
