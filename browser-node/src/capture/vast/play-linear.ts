import { CREATIVE_VIDEO } from '@adsweep/shared/capture/artifacts.ts';
import type { TriedMedia } from '@adsweep/shared/capture/vast.ts';
import type { VastMediaFile } from '@adsweep/shared/vast/vast-document.ts';
import { clipUrl } from '../session/urls.ts';
import { chooseMedia, isPlayedOn, loadMedia, mediaBytes } from './media-files.ts';
import { playVideo, type VideoAd } from './play-video.ts';
import { playVpaid } from './play-vpaid.ts';
import { clickAd, notShown, type ShowOutcome, type TimedPlayer } from './player.ts';
import { fireAdError } from './tracker-log.ts';
import { absolute } from './wrapper-chain.ts';

/** The most files of one ad that are tried. */
const TRIES_MAX = 3;

/** A linear ad, whose URLs are relative to `base`, and its landing page, '' = none. */
type LinearAd = VideoAd & { base: string; clickThrough: string };

/** Runs the VPAID script of a linear ad; without one, or where it fails and there is a video too, plays the video. */
export async function playLinear(player: TimedPlayer, shown: LinearAd): Promise<ShowOutcome> {
  const choices = chooseMedia(shown.linear, player.emulator, player.pixelWidth);
  const files = choices.filter(({ kind }) => kind === 'file').map(({ file }) => file);
  const script = choices.find(({ kind }) => kind === 'vpaid')?.file;
  if (!script) return playFiles(player, shown, files);
  const outcome = await playScript(player, shown, script);
  const hasFile = shown.linear.mediaFiles.some((file) => isPlayedOn(player.emulator, file));
  if (outcome.error_code === null || !hasFile) return outcome;
  // As with an interactive file that cannot be run (VAST 4.3, 2.4.3): the error is reported, then a video may be
  // played.
  await fireAdError(player.log, shown.ad, outcome.error_code);
  return { ...(await playFiles(player, shown, files)), error_code: outcome.error_code };
}

async function playScript(
  player: TimedPlayer,
  { ad, linear, base, clickThrough }: LinearAd,
  file: VastMediaFile,
): Promise<ShowOutcome> {
  const script = absolute(file.url, base);
  const { adParameters } = linear;
  const vpaid = { ad, part: 'linear' as const, form: linear, script, adParameters, clickThrough, ...player.size };
  const { errorCode, playedMs, picture, isCut } = await playVpaid(player, vpaid);
  const mediafile_url = clipUrl(script);
  return { shown: 'vpaid', played_ms: playedMs, media: [], error_code: errorCode, picture, isCut, mediafile_url };
}

/** Tries the files in order, plays the first that loads, and clicks it at its end. */
async function playFiles(player: TimedPlayer, shown: LinearAd, files: readonly VastMediaFile[]): Promise<ShowOutcome> {
  const { ad, linear, base, clickThrough } = shown;
  const media: TriedMedia[] = [];
  for (const file of files.slice(0, TRIES_MAX)) {
    const assetUrl = player.log.fill(ad, absolute(file.url, base), {});
    const tried = { ...declaredFile(file, assetUrl), ...(await loadMedia(player, assetUrl, file)) };
    media.push(tried);
    const mediafile_url = tried.url;
    if (tried.outcome === 'played') {
      const { playedMs, errorCode, picture, isCut } = await playVideo(player, shown, assetUrl);
      media.splice(-1, 1, { ...tried, bytes: mediaBytes(player, assetUrl) });
      await keepVideo(player, assetUrl);
      const moment = { playheadMs: playedMs, assetUrl: tried.url };
      await clickAd(player, ad, { part: 'linear', form: linear, url: clickThrough }, moment);
      return { shown: 'video', played_ms: playedMs, media, error_code: errorCode, picture, isCut, mediafile_url };
    }
    if (player.page.isGone) break;
  }
  const last = media.at(-1);
  const outcome = { ...notShown(null), media, error_code: errorOf(media) };
  return { ...outcome, ...(last && { mediafile_url: last.url }) };
}

/** The part of a file's record that its document declares. */
const declaredFile = ({ type, delivery, bitrate, width, height }: VastMediaFile, assetUrl: string) => ({
  url: clipUrl(assetUrl),
  type: type.slice(0, 300),
  delivery: delivery.slice(0, 300),
  bitrate,
  width,
  height,
});

async function keepVideo({ responses, files }: TimedPlayer, url: string): Promise<void> {
  if (files.some(({ name }) => name === CREATIVE_VIDEO)) return;
  const kept = await responses.takeMedia(url);
  if (!kept) return;
  const contentType = kept.contentType.slice(0, 100);
  files.push({ name: CREATIVE_VIDEO, contentType, bytes: kept.bytes, width: 0, height: 0 });
}

/** Codes of VAST 4.3, 2.3.6.3; null where the device itself would have played a file. */
function errorOf(media: readonly TriedMedia[]): number | null {
  if (media.some(({ outcome }) => outcome === 'undecodable')) return null;
  const last = media.at(-1)?.outcome;
  if (last === 'refused') return 401;
  if (last === 'unanswered') return 402;
  return last === 'broken' ? 405 : 403;
}
