import type { AdPart, CapturedTracker } from '@adsweep/shared/capture/vast.ts';
import { parseOffset } from '@adsweep/shared/vast/clock.ts';
import type { VastAd, VastDisplay, VastIcon, VastLinear, VastTracker } from '@adsweep/shared/vast/vast-document.ts';
import { absolute, baseUrl, type Resolution, type ResolvedAd } from './wrapper-chain.ts';

/** One of the forms that an ad may have several of. */
type AdForm = VastLinear | VastDisplay | VastIcon;

/**
 * A tracker of a resolved ad, with the index of the document that declares it in the wrapper chain; `part` 'ad' for
 * impressions and errors. `form`: the video, overlay, companion or icon that it belongs to, null = whichever is shown.
 */
export type DeclaredTracker = VastTracker & { part: AdPart; document: number; form: AdForm | null };

/** Whether a tracker belongs to a form that is shown. */
export const isAbout = ({ form }: Pick<DeclaredTracker, 'form'>, shown: AdForm): boolean =>
  form === null || form === shown;

/**
 * The first `max` trackers of a resolved ad, its wrappers' included (VAST 4.3, 3.19), with absolute URLs, and how many
 * more there are. What is not an http(s) URL stays as it is and is never requested. Pure.
 */
export function declaredTrackers(
  resolution: Pick<Resolution, 'chain'>,
  resolved: ResolvedAd,
  max: number,
): { trackers: DeclaredTracker[]; leftOut: number } {
  const trackers: DeclaredTracker[] = [];
  let leftOut = 0;
  for (const { document, ad } of [resolved, ...resolved.wrappers.toReversed()]) {
    const base = baseUrl(resolution, document);
    const all = trackersOf(ad, ad !== resolved.ad);
    const kept = all.slice(0, max - trackers.length);
    for (const tracker of kept) trackers.push({ ...tracker, document, url: absolute(tracker.url, base) });
    leftOut += all.length - kept.length;
  }
  return { trackers, leftOut };
}

type OfPart = VastTracker & Pick<DeclaredTracker, 'part' | 'form'>;

/**
 * A wrapper's linear and nonlinear trackers apply to whichever video or overlay the ad shows; its companions and icons
 * are its own.
 */
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
    // TrackingEvents apply to all nonlinear forms (VAST 4.3, 3.12).
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

/** The playhead and the duration of a video, in ms. */
export type Playhead = { ms: number; durationMs: number; ended: boolean };

/** The share of the video after which each event is due (VAST 4.3, 3.14.1). */
const SHARES: Record<string, number> = {
  loaded: 0,
  start: 0,
  creativeView: 0,
  firstQuartile: 0.25,
  midpoint: 0.5,
  thirdQuartile: 0.75,
};
/** Due at an offset of their own; `timeSpentViewing` is VAST 4.0's. */
const WITH_OFFSET = new Set(['progress', 'timeSpentViewing']);

/**
 * Whether a tracker of a linear ad is due at this point of its video; trackers of a viewer's actions never are. Pure.
 */
export function isDueAt(
  { part, event, offset }: Pick<CapturedTracker, 'part' | 'event' | 'offset'>,
  at: Playhead,
): boolean {
  const isReached = (ms: number) => ms <= at.durationMs && (at.ended || at.ms >= ms);
  if (part !== 'linear') return false;
  if (event === 'complete') return at.ended;
  const share = SHARES[event];
  if (share !== undefined) return share === 0 || isReached(at.durationMs * share);
  const due = WITH_OFFSET.has(event) && offset !== null ? parseOffset(offset, at.durationMs) : null;
  return due !== null && isReached(due);
}
