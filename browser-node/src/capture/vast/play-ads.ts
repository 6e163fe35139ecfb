import { CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import { declaredTrackers } from './declared-trackers.ts';
import { describeAd, linearOf } from './describe-ad.ts';
import { fireAdError } from './fire-errors.ts';
import { pictureFile } from './picture-file.ts';
import { notShown, type Player, type ShowOutcome, type TimedPlayer } from './player.ts';
import { clickThroughOf, companionAdsOf, iconsOf } from './precedence.ts';
import { REQUIRED_COMPANION_MISSING } from './required-companions.ts';
import type { Resolution, ResolvedAd } from './resolution.ts';
import { showCompanions } from './show-companions.ts';
import { showLinear } from './show-linear.ts';
import { showNonLinear } from './show-nonlinear.ts';
import type { Logged } from './tracker-log.ts';

/** All ads of a tag together, and one of a pod. */
const ALL_ADS_MS = 32_000;
const PLAYED_MAX = 5;

/** Why scripts of verification are not run (VAST 4.3, 3.17.3): this player has none of the interfaces they ask for. */
const NOT_SUPPORTED = 2;
const isVerificationNotExecuted = ({ part, event }: Logged): boolean =>
  part === 'verification' && event === 'verificationNotExecuted';

/** Plays the ads of a resolved tag one after the other, and writes down in `played` how it went. */
export async function playAds(player: Player, resolution: Resolution, played: PlayedAd[]): Promise<void> {
  const until = performance.now() + ALL_ADS_MS;
  for (const resolved of resolution.ads) {
    const { adServingId, universalAdIds } = resolved.ad;
    const about = { podSequence: played.length + 1, adServingId, universalAdIds };
    player.log.declare(played.length, declaredTrackers(resolution, resolved), about);
    const isInTime = played.length < PLAYED_MAX && performance.now() < until && !player.page.isGone;
    const ad = played.length;
    played.push(
      isInTime ? await playAd({ ...player, until }, resolution, resolved, ad) : describeAd(resolution, resolved),
    );
  }
}

/** Plays one ad, the one in place `ad`: its companions first, without which some ads are not shown. */
async function playAd(
  player: TimedPlayer,
  resolution: Resolution,
  resolved: ResolvedAd,
  ad: number,
): Promise<PlayedAd> {
  await player.page.remove();
  const { companions, isMissing } = await showCompanions(player, companionAdsOf(resolution, resolved), ad);
  const { picture, ...outcome } = isMissing
    ? notShown(REQUIRED_COMPANION_MISSING)
    : await showAd(player, resolution, resolved, ad);
  if (outcome.error_code !== null) await fireAdError(player.log, ad, outcome.error_code);
  if (outcome.shown !== 'nothing') await player.log.fire(ad, isVerificationNotExecuted, { reason: NOT_SUPPORTED });
  if (picture && !player.files.some(({ name }) => name === CREATIVE_SCREENSHOT))
    player.files.push(pictureFile(CREATIVE_SCREENSHOT, picture));
  return { ...describeAd(resolution, resolved), ...outcome, companions };
}

async function showAd(
  player: TimedPlayer,
  resolution: Resolution,
  resolved: ResolvedAd,
  ad: number,
): Promise<ShowOutcome> {
  const base = resolution.rungs[resolved.rung]?.fetched?.url ?? '';
  const linear = linearOf(resolved.ad);
  if (!linear) return showNonLinear(player, { ad, nonLinears: resolved.ad.nonLinears, base });
  const clickThrough = clickThroughOf(resolution, resolved);
  return showLinear(player, { ad, linear, base, clickThrough, icons: iconsOf(resolution, resolved, linear) });
}
