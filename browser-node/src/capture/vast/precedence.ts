import type { VastCompanionAds, VastIcon, VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { absolute } from './declared-trackers.ts';
import type { Resolution, ResolvedAd } from './resolution.ts';

/**
 * What a player takes where an ad and its wrappers offer the same thing: the ad's own, else that of the wrapper next to it (VAST 4.3,
 * 2.3.5.2). URLs in it are relative to `base`.
 */
type Taken<T> = T & { base: string };

/** Where a click on the video leads, '' = nowhere. Pure. */
export function clickThroughOf(resolution: Resolution, resolved: ResolvedAd): string {
  for (const at of nearestFirst(resolved)) {
    const url = at.ad.linears.find(({ clickThrough }) => clickThrough !== '')?.clickThrough;
    if (url) return absolute(url, baseOf(resolution, at.rung));
  }
  return '';
}

/** The companions to show. Pure. */
export function companionAdsOf(
  resolution: Resolution,
  resolved: ResolvedAd,
): Taken<{ companionAds: VastCompanionAds[] }> {
  const isSome = ({ companions }: VastCompanionAds) => companions.length > 0;
  const at = nearestFirst(resolved).find(({ ad }) => ad.companionAds.some(isSome)) ?? resolved;
  return { companionAds: at.ad.companionAds, base: baseOf(resolution, at.rung) };
}

/** The icons to show over a video of the ad: all of them, but one of each program (VAST 4.3, 3.11). Pure. */
export function iconsOf(resolution: Resolution, resolved: ResolvedAd, linear: VastLinear): Taken<{ icon: VastIcon }>[] {
  const all = nearestFirst(resolved).flatMap(({ rung, ad }) =>
    (ad === resolved.ad ? [linear] : ad.linears)
      .flatMap(({ icons }) => icons)
      .map((icon) => ({ icon, base: baseOf(resolution, rung) })),
  );
  const programs = all.map(({ icon }) => icon.program.toLowerCase());
  return all.filter((_, at) => programs[at] === '' || programs.indexOf(programs[at] as string) === at);
}

const nearestFirst = ({ rung, ad, wrappers }: ResolvedAd) => [{ rung, ad }, ...wrappers.toReversed()];

const baseOf = ({ rungs }: Resolution, rung: number): string => rungs[rung]?.fetched?.url ?? '';
