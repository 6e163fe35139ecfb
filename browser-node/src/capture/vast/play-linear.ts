import type { MediaOutcome, TriedMedia } from '@adsweep/shared/capture/vast.ts';
import { parseClock } from '@adsweep/shared/vast/clock.ts';
import type { VastLinear, VastMediaFile } from '@adsweep/shared/vast/vast-document.ts';
import type { VideoState } from '../page-scripts/video-player.ts';
import { type Entry, type NetworkJournal, ORB_BLOCKED } from '../session/network-journal.ts';
import { clipUrl } from '../session/urls.ts';
import { type MediaChoice, needsOtherBrowser } from './choose-media.ts';
import { absolute, isAbout } from './declared-trackers.ts';
import { isDueAt, type Playhead, rateAt } from './due-events.ts';
import type { AnswerInterceptor } from './intercept-answers.ts';
import { IconOverlay, type IconToShow } from './play-icons.ts';
import type { PlayerPage } from './player-page.ts';
import { sameAddress } from './same-address.ts';
import type { TrackerLog } from './tracker-log.ts';

const LOAD_MS = 10_000;
/** A video that comes no further for so long is given up. */
const STALL_MS = 4_000;
const LOOK_EVERY_MS = 100;
/** How long the status of a file that was kept from the page is waited for. */
const STATUS_MS = 2_000;
/** Half of a video must be seen for so long (MRC, "Viewable Ad Impression Measurement Guidelines"). */
const VIEWED_MS = 2_000;
const HAVE_CURRENT_DATA = 2;
/** Files of one ad that are tried. */
const TRIES_MAX = 3;

export type LinearParts = {
  page: PlayerPage;
  log: TrackerLog;
  journal: NetworkJournal;
  answers: AnswerInterceptor;
  /** Of the player, in CSS pixels. */
  size: { width: number; height: number };
  /** By `performance.now()`. */
  until: number;
};

/** The ad to play: its place among those played, its video, the address its URLs are relative to, and what is shown over it. */
export type LinearAd = { ad: number; linear: VastLinear; base: string; choices: MediaChoice[]; icons: IconToShow[] };

/** How playing ended; `picture` is a frame from the middle. */
export type LinearPlayed = { media: TriedMedia[]; playedMs: number; errorCode: number | null; picture: Buffer | null };

/** Plays the first of the files that can be played, and tells the trackers what happens when it does (VAST 4.3, 3.14.1). */
export async function playLinear(parts: LinearParts, ad: LinearAd): Promise<LinearPlayed> {
  const media: TriedMedia[] = [];
  for (const { file } of ad.choices.filter(({ kind }) => kind === 'file').slice(0, TRIES_MAX)) {
    const assetUrl = parts.log.fill(ad.ad, absolute(file.url, ad.base), {});
    const tried = await load(parts, assetUrl, file);
    media.push({
      url: clipUrl(assetUrl),
      type: file.type.slice(0, 300),
      delivery: file.delivery.slice(0, 300),
      bitrate: file.bitrate,
      width: file.width,
      height: file.height,
      ...tried,
    });
    if (tried.outcome === 'played') return { media, ...(await play(parts, ad, assetUrl)) };
    if (parts.page.isGone) break;
  }
  return { media, playedMs: 0, errorCode: errorOf(media), picture: null };
}

type Tried = Pick<
  TriedMedia,
  'outcome' | 'status_code' | 'content_type' | 'bytes' | 'duration_ms' | 'actual_width' | 'actual_height'
>;

/** Asks for a file until its first picture is there, or it is clear that none will come. */
async function load({ page, journal, answers, until }: LinearParts, url: string, file: VastMediaFile): Promise<Tried> {
  await page.load(url);
  const giveUpAt = Math.min(performance.now() + LOAD_MS, until);
  let state = await page.state();
  while (
    state &&
    !page.isGone &&
    state.ready < HAVE_CURRENT_DATA &&
    state.error === 0 &&
    performance.now() < giveUpAt
  ) {
    await page.pause(LOOK_EVERY_MS);
    state = await page.state();
  }
  const entry = await answeredEntry(page, journal, url);
  const kept = answers.media(url);
  const isUndecodable = needsOtherBrowser(file, kept?.bytes);
  const isReady = (state?.ready ?? 0) >= HAVE_CURRENT_DATA && state?.error === 0;
  // Chromium plays the sound of a video whose pictures it cannot decode.
  const isPlayed = isReady && !(isUndecodable && state?.width === 0);
  const statusCode = entry?.gateway ? 0 : (entry?.statusCode ?? 0);
  return {
    outcome: isPlayed ? 'played' : failureOf(statusCode, isUndecodable),
    status_code: statusCode,
    content_type: (entry?.contentType || kept?.contentType || '').slice(0, 300),
    bytes: kept?.bytes.length ?? entry?.bodySize ?? 0,
    duration_ms: Math.round((state?.duration ?? 0) * 1_000),
    actual_width: state?.width ?? 0,
    actual_height: state?.height ?? 0,
  };
}

/** What the journal has of a file. The status of an answer that was kept from the page may be told a moment after it failed. */
async function answeredEntry(page: PlayerPage, journal: NetworkJournal, url: string): Promise<Entry | undefined> {
  const find = () => journal.entries().findLast((one) => sameAddress(one.url, url));
  const giveUpAt = performance.now() + STATUS_MS;
  let entry = find();
  while (entry?.fault === ORB_BLOCKED && entry.statusCode === 0 && !page.isGone && performance.now() < giveUpAt) {
    await page.pause(LOOK_EVERY_MS);
    entry = find();
  }
  return entry;
}

function failureOf(statusCode: number, isUndecodable: boolean): MediaOutcome {
  if (statusCode >= 400) return 'refused';
  if (statusCode === 0) return 'unanswered';
  return isUndecodable ? 'undecodable' : 'broken';
}

/** Codes of VAST 4.3, 2.3.6.3; null where the device itself would have played a file. */
function errorOf(media: readonly TriedMedia[]): number | null {
  if (media.some(({ outcome }) => outcome === 'undecodable')) return null;
  const last = media.at(-1)?.outcome;
  if (last === 'refused') return 401;
  if (last === 'unanswered') return 402;
  return last === 'broken' ? 405 : 403;
}

/** From the first picture to the end, or as far as there is time. */
async function play(parts: LinearParts, ad: LinearAd, assetUrl: string): Promise<Omit<LinearPlayed, 'media'>> {
  const { page, log, until } = parts;
  const icons = new IconOverlay(parts, ad.ad, ad.icons);
  const fire = (isDue: Parameters<TrackerLog['fire']>[1], playheadMs: number) =>
    log.fire(ad.ad, (tracker) => isAbout(tracker, ad.linear) && isDue(tracker), { playheadMs, assetUrl });
  await fire(({ part, event }) => part === 'linear' && event === 'loaded', 0);
  await page.play(1);
  let picture: Buffer | null = null;
  let last = { ms: -1, at: performance.now() };
  let rate = 1;
  let isViewed = false;
  for (let state = await page.state(); state && !page.isGone; state = await page.state()) {
    const at = playheadOf(state, ad.linear);
    if (at.ms > 0 || at.ended) {
      await fire(({ part, event }) => part === 'ad' && event === 'impression', at.ms);
      await fire((tracker) => isDueAt(tracker, at), at.ms);
      await icons.look(at, assetUrl);
    }
    if (!isViewed && rate === 1 && at.ms >= Math.min(VIEWED_MS, at.durationMs)) {
      isViewed = true;
      await fire(({ part, event }) => part === 'ad' && event === 'viewable', at.ms);
    }
    if (!picture && at.ms >= at.durationMs / 2) picture = await page.picture(await page.box());
    if (at.ms > last.ms) last = { ms: at.ms, at: performance.now() };
    if (at.ended || performance.now() > until || performance.now() - last.at > STALL_MS) break;
    const next = rateAt(at);
    if (next !== rate) await page.play(next);
    rate = next;
    await page.pause(LOOK_EVERY_MS);
  }
  if (!isViewed && last.ms >= 0) await fire(({ part, event }) => part === 'ad' && event === 'notViewable', last.ms);
  picture ??= await page.picture(await page.box());
  return { playedMs: Math.max(0, Math.round(last.ms)), errorCode: last.ms > 0 ? null : 405, picture };
}

/** By the video itself; by the document where the video does not say. */
function playheadOf({ time, duration, ended }: VideoState, { duration: declared }: VastLinear): Playhead {
  const durationMs = duration > 0 ? duration * 1_000 : (parseClock(declared ?? '') ?? Number.POSITIVE_INFINITY);
  return { ms: time * 1_000, durationMs, ended };
}
