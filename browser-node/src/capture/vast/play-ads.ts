import { CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import { declaredTrackers } from './ad-trackers.ts';
import { playLinear } from './play-linear.ts';
import { playNonLinear } from './play-nonlinear.ts';
import { notShown, type Player, type ShowOutcome, screenshotFile, type TimedPlayer } from './player.ts';
import { clickThroughOf, companionAdsOf, describeAd, iconsOf, linearOf } from './resolved-ad.ts';
import { showCompanions } from './show-companions.ts';
import { fireAdError, type Logged } from './tracker-log.ts';
import { baseUrl, type Resolution, type ResolvedAd } from './wrapper-chain.ts';

/** Time for all ads of a tag together, and the most ads of a pod that are played. */
const ALL_ADS_MS = 32_000;
const PLAYED_MAX = 5;

/** An ad is not shown without the companions that it requires (VAST 4.3, 2.3.6.3). */
const REQUIRED_COMPANION_MISSING = 602;

/** Why verification scripts are not run (VAST 4.3, 3.17.3): this player has no API for them. */
const NOT_SUPPORTED = 2;
const isVerificationNotExecuted = ({ part, event }: Logged): boolean =>
  part === 'verification' && event === 'verificationNotExecuted';

/**
 * Plays the ads of a resolved tag in order, and appends the record of each to `played`. A note counts those that were
 * cut or left out.
 */
export async function playAds(player: Player, resolution: Resolution, played: PlayedAd[]): Promise<void> {
  const until = performance.now() + ALL_ADS_MS;
  let lacking = resolution.adsLeftOut;
  for (const resolved of resolution.ads) {
    const { adServingId, universalAdIds } = resolved.ad;
    const about = { podSequence: played.length + 1, adServingId, universalAdIds };
    const { trackers, leftOut } = declaredTrackers(resolution, resolved, player.log.room);
    player.log.declare(played.length, trackers, leftOut, about);
    const isInTime = played.length < PLAYED_MAX && performance.now() < until && !player.page.isGone;
    const { isCut, ...ad } = isInTime
      ? await playAd({ ...player, until }, resolution, resolved, played.length)
      : { ...describeAd(resolution, resolved), isCut: true };
    if (isCut) lacking += 1;
    played.push(ad);
  }
  if (lacking > 0) player.notes.push(note('ads', { count: lacking }));
}

/** Plays the ad with index `ad`: its companions first, because some ads must not be shown without them. */
async function playAd(
  player: TimedPlayer,
  resolution: Resolution,
  resolved: ResolvedAd,
  ad: number,
): Promise<PlayedAd & Pick<ShowOutcome, 'isCut'>> {
  await player.page.remove();
  const { companions, isMissing } = await showCompanions(player, companionAdsOf(resolution, resolved), ad);
  const { picture, ...outcome } = isMissing
    ? notShown(REQUIRED_COMPANION_MISSING)
    : await showAd(player, resolution, resolved, ad);
  if (outcome.error_code !== null) await fireAdError(player.log, ad, outcome.error_code);
  if (outcome.shown !== 'nothing') await player.log.fire(ad, isVerificationNotExecuted, { reason: NOT_SUPPORTED });
  if (picture && !player.files.some(({ name }) => name === CREATIVE_SCREENSHOT))
    player.files.push(screenshotFile(CREATIVE_SCREENSHOT, picture));
  return { ...describeAd(resolution, resolved), ...outcome, companions };
}

async function showAd(
  player: TimedPlayer,
  resolution: Resolution,
  resolved: ResolvedAd,
  ad: number,
): Promise<ShowOutcome> {
  const base = baseUrl(resolution, resolved.document);
  const linear = linearOf(resolved.ad);
  if (!linear) return playNonLinear(player, { ad, nonLinears: resolved.ad.nonLinears, base });
  const clickThrough = clickThroughOf(resolution, resolved);
  return playLinear(player, { ad, linear, base, clickThrough, icons: iconsOf(resolution, resolved, linear) });
}
