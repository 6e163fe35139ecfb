import { CREATIVE_VIDEO } from '@adsweep/shared/capture/artifacts.ts';
import type { VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { clipUrl } from '../session/urls.ts';
import { chooseMedia, isPlayedOn, type MediaChoice } from './choose-media.ts';
import { clickAd } from './click-ad.ts';
import { absolute } from './declared-trackers.ts';
import { fireAdError } from './fire-errors.ts';
import type { IconToShow } from './play-icons.ts';
import { playLinear } from './play-linear.ts';
import { playVpaid } from './play-vpaid.ts';
import type { ShowOutcome, TimedPlayer } from './player.ts';

/** A linear ad: its place among those played, its video, the address its URLs are relative to, and what else belongs to it. */
type LinearToShow = { ad: number; linear: VastLinear; base: string; clickThrough: string; icons: IconToShow[] };

/** Runs the script of an ad where there is one, else plays its video; the video too where the script fails. */
export async function showLinear(player: TimedPlayer, shown: LinearToShow): Promise<ShowOutcome> {
  const choices = chooseMedia(shown.linear, player.emulator, player.pixelWidth);
  const script = choices.find(({ kind }) => kind === 'vpaid');
  if (!script) return showVideo(player, shown, choices);
  const outcome = await showScript(player, shown, script);
  const hasFile = shown.linear.mediaFiles.some((file) => isPlayedOn(player.emulator, file));
  if (outcome.error_code === null || !hasFile) return outcome;
  // As of an interactive file that cannot be run (VAST 4.3, 2.4.3): the error is told, then a video may be played.
  await fireAdError(player.log, shown.ad, outcome.error_code);
  return { ...(await showVideo(player, shown, choices)), error_code: outcome.error_code };
}

async function showScript(
  player: TimedPlayer,
  { ad, linear, base, clickThrough }: LinearToShow,
  { file }: MediaChoice,
): Promise<ShowOutcome> {
  const script = absolute(file.url, base);
  const { adParameters } = linear;
  const vpaid = { ad, part: 'linear' as const, form: linear, script, adParameters, ...player.size };
  const { errorCode, playedMs, picture } = await playVpaid(player.page, player.log, vpaid, player.until, () =>
    clickAd(player, ad, { part: 'linear', form: linear, url: clickThrough }, { assetUrl: script }),
  );
  const mediafile_url = clipUrl(script);
  return { shown: 'vpaid', played_ms: playedMs, media: [], error_code: errorCode, picture, mediafile_url };
}

async function showVideo(
  player: TimedPlayer,
  { ad, linear, base, clickThrough, icons }: LinearToShow,
  choices: MediaChoice[],
): Promise<ShowOutcome> {
  const { media, playedMs, errorCode, picture } = await playLinear(player, { ad, linear, base, choices, icons });
  const last = media.at(-1);
  const isPlayed = last?.outcome === 'played';
  if (isPlayed) {
    keepVideo(player, last.url);
    const moment = { playheadMs: playedMs, assetUrl: last.url };
    await clickAd(player, ad, { part: 'linear', form: linear, url: clickThrough }, moment);
  }
  return {
    shown: isPlayed ? 'video' : 'nothing',
    played_ms: playedMs,
    media,
    error_code: errorCode,
    picture,
    ...(last && { mediafile_url: last.url }),
  };
}

function keepVideo({ answers, files }: TimedPlayer, url: string): void {
  const kept = answers.media(url);
  if (!kept || files.some(({ name }) => name === CREATIVE_VIDEO)) return;
  const contentType = kept.contentType.slice(0, 100);
  files.push({ name: CREATIVE_VIDEO, contentType, bytes: kept.bytes, width: 0, height: 0 });
}
