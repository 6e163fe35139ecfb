import type { AdPart } from '@adsweep/shared/capture/vast.ts';
import type { VastAd, VastDisplay, VastIcon, VastLinear, VastTracker } from '@adsweep/shared/vast/vast-document.ts';
import type { Resolution, ResolvedAd } from './resolution.ts';

/** One of the forms that an ad may have several of. */
type AdForm = VastLinear | VastDisplay | VastIcon;

/**
 * A tracker as the resolved ad has it, with the rung of the ladder whose document declares it; `part` 'ad' for impressions and errors.
 * `form`: the one thing that it is about, null = whichever is shown.
 */
export type DeclaredTracker = VastTracker & { part: AdPart; rung: number; form: AdForm | null };

/** Whether a tracker is about a thing that is shown. */
export const isAbout = ({ form }: Pick<DeclaredTracker, 'form'>, shown: AdForm): boolean =>
  form === null || form === shown;

/**
 * Every tracker of a resolved ad, those of its wrappers included (VAST 4.3, 3.19); relative URLs as their document means them. What is no
 * http(s) URL stays as it is written, and is never asked for. Pure.
 */
export function declaredTrackers({ rungs }: Pick<Resolution, 'rungs'>, resolved: ResolvedAd): DeclaredTracker[] {
  return [resolved, ...resolved.wrappers.toReversed()].flatMap(({ rung, ad }) => {
    const base = rungs[rung]?.fetched?.url ?? '';
    return trackersOf(ad, ad !== resolved.ad).map((tracker) => ({
      ...tracker,
      rung,
      url: absolute(tracker.url, base),
    }));
  });
}

type OfPart = VastTracker & Pick<DeclaredTracker, 'part' | 'form'>;

/** Those of a wrapper are about whichever video or overlay the ad shows; its companions and icons are shown by themselves. */
const trackersOf = (ad: VastAd, isWrapper: boolean): OfPart[] => [
  ...inPart('ad', ad.trackers),
  ...ad.linears.flatMap((linear) => {
    const form = isWrapper ? null : linear;
    // An icon is shown from its own offset on (VAST 4.3, 3.11.1).
    const icons = linear.icons.flatMap((icon) =>
      inPart(
        'icon',
        icon.trackers.map((one) => ({ ...one, offset: icon.offset })),
        icon,
      ),
    );
    return [...inPart('linear', linear.trackers, form), ...icons];
  }),
  ...ad.nonLinears.flatMap((display) => {
    const clicks = display.trackers.filter(({ event }) => event === 'clickTracking');
    // Events stand beside all forms (VAST 4.3, 3.12).
    const events = display.trackers.filter(({ event }) => event !== 'clickTracking');
    return [...inPart('nonlinear', events), ...inPart('nonlinear', clicks, isWrapper ? null : display)];
  }),
  ...ad.companionAds
    .flatMap(({ companions }) => companions)
    .flatMap((display) => inPart('companion', display.trackers, display)),
  ...ad.verifications.flatMap(({ trackers }) => inPart('verification', trackers)),
];

const inPart = (part: AdPart, trackers: readonly VastTracker[], form: AdForm | null = null): OfPart[] =>
  trackers.map((tracker) => ({ ...tracker, part, form }));

/** A URL as a document at `base` means it, '' where there is none. Brackets of macros stay; what is no URL stays as it is. */
export const absolute = (url: string, base: string): string =>
  url === '' || /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : (URL.parse(url, base || undefined)?.href ?? url);
