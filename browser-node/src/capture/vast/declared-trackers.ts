import type { AdPart } from '@adsweep/shared/capture/vast.ts';
import type { VastAd, VastTracker } from '@adsweep/shared/vast/vast-document.ts';
import type { Resolution, ResolvedAd } from './resolution.ts';

/** A tracker as the resolved ad has it, with the rung of the ladder whose document declares it; `part` 'ad' for impressions and errors. */
export type DeclaredTracker = VastTracker & { part: AdPart; rung: number };

/**
 * Every tracker of a resolved ad, those of its wrappers included (VAST 4.3, 3.19); relative URLs as their document means them. What is no
 * http(s) URL stays as it is written, and is never asked for. Pure.
 */
export function declaredTrackers({ rungs }: Pick<Resolution, 'rungs'>, resolved: ResolvedAd): DeclaredTracker[] {
  return [resolved, ...resolved.wrappers.toReversed()].flatMap(({ rung, ad }) => {
    const base = rungs[rung]?.fetched?.url ?? '';
    return trackersOf(ad).map((tracker) => ({ ...tracker, rung, url: absolute(tracker.url, base) }));
  });
}

const trackersOf = (ad: VastAd): (VastTracker & { part: AdPart })[] => [
  ...inPart('ad', ad.trackers),
  ...ad.linears.flatMap(({ trackers, icons }) => [
    ...inPart('linear', trackers),
    // An icon is shown from its own offset on (VAST 4.3, 3.11.1).
    ...icons.flatMap(({ offset, trackers: own }) =>
      inPart(
        'icon',
        own.map((one) => ({ ...one, offset })),
      ),
    ),
  ]),
  ...ad.nonLinears.flatMap(({ trackers }) => inPart('nonlinear', trackers)),
  ...ad.companions.flatMap(({ trackers }) => inPart('companion', trackers)),
  ...ad.verifications.flatMap(({ trackers }) => inPart('verification', trackers)),
];

const inPart = (part: AdPart, trackers: VastTracker[]) => trackers.map((tracker) => ({ ...tracker, part }));

/** A URL as a document at `base` means it, '' where there is none. Brackets of macros stay; what is no URL stays as it is. */
export const absolute = (url: string, base: string): string =>
  url === '' || /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : (URL.parse(url, base || undefined)?.href ?? url);
