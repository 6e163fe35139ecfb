import { parseClock } from '@adsweep/shared/vast/clock.ts';
import type { VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import type { VideoState } from '../page-scripts/video-player.ts';
import { isAbout, isDueAt, type Playhead } from './ad-trackers.ts';
import { IconOverlay, type IconToShow } from './play-icons.ts';
import type { ShowOutcome, TimedPlayer } from './player.ts';
import type { Logged } from './tracker-log.ts';

const POLL_MS = 100;
/** A video that makes no progress for so long is given up. */
const STALL_MS = 4_000;
/** Half of a video must be visible for so long (MRC, "Viewable Ad Impression Measurement Guidelines"). */
const VIEWED_MS = 2_000;
const NOT_PLAYABLE = 405;

/** A video ad: its index among the ads that are played, its video, and the icons over it. */
export type VideoAd = { ad: number; linear: VastLinear; icons: readonly IconToShow[] };

/** How playing ended; `picture` is a frame from the middle; `isCut`: the time for all ads was over before the video. */
export type VideoPlayed = {
  playedMs: number;
  errorCode: number | null;
  picture: ShowOutcome['picture'];
  isCut: boolean;
};

/**
 * Plays the loaded video to its end, or until the time is over, and requests its trackers when they are due (VAST 4.3,
 * 3.14.1).
 */
export async function playVideo(player: TimedPlayer, shown: VideoAd, assetUrl: string): Promise<VideoPlayed> {
  const playback = new Playback(player, shown, assetUrl);
  await playback.start();
  for (let state = await player.page.state(); state && !player.page.isGone; state = await player.page.state()) {
    const at = playheadOf(state, shown.linear);
    await playback.advance(at);
    if (at.ended || playback.isStalled) break;
    if (performance.now() > player.until) return playback.end(true);
    await playback.adjustRate(at);
    await player.page.pause(POLL_MS);
  }
  return playback.end(false);
}

/** The playhead of a video; its duration is that of the document if the video has none. */
function playheadOf({ time, duration, ended }: VideoState, { duration: declared }: VastLinear): Playhead {
  const durationMs = duration > 0 ? duration * 1_000 : (parseClock(declared ?? '') ?? Number.POSITIVE_INFINITY);
  return { ms: time * 1_000, durationMs, ended };
}

class Playback {
  readonly #player: TimedPlayer;
  readonly #shown: VideoAd;
  readonly #assetUrl: string;
  readonly #icons: IconOverlay;
  #picture: Buffer | null = null;
  #rate = 1;
  #isViewed = false;
  /** The furthest playhead, and when it was reached. */
  #progress = { ms: -1, at: performance.now() };

  constructor(player: TimedPlayer, shown: VideoAd, assetUrl: string) {
    this.#player = player;
    this.#shown = shown;
    this.#assetUrl = assetUrl;
    this.#icons = new IconOverlay(player, shown.ad, shown.icons);
  }

  get isStalled(): boolean {
    return performance.now() - this.#progress.at > STALL_MS;
  }

  async start(): Promise<void> {
    await this.#fire(({ part, event }) => part === 'linear' && event === 'loaded', 0);
    await this.#player.page.play(1);
    this.#progress.at = performance.now();
  }

  /** Requests the trackers that are due here, updates the icons, and takes the screenshot in the middle. */
  async advance(at: Playhead): Promise<void> {
    if (at.ms > 0 || at.ended) {
      await this.#fire(({ part, event }) => part === 'ad' && event === 'impression', at.ms);
      await this.#fire((tracker) => isDueAt(tracker, at), at.ms);
      await this.#icons.update(at, this.#assetUrl);
    }
    if (!this.#isViewed && this.#rate === 1 && at.ms >= Math.min(VIEWED_MS, at.durationMs)) {
      this.#isViewed = true;
      await this.#fire(({ part, event }) => part === 'ad' && event === 'viewable', at.ms);
    }
    if (at.ms >= at.durationMs / 2) this.#picture ??= await this.#screenshot();
    if (at.ms > this.#progress.ms) this.#progress = { ms: at.ms, at: performance.now() };
  }

  async adjustRate(at: Playhead): Promise<void> {
    const next = rateAt(at);
    if (next !== this.#rate) await this.#player.page.play(next);
    this.#rate = next;
  }

  async end(isCut: boolean): Promise<VideoPlayed> {
    const { ms } = this.#progress;
    if (!this.#isViewed && ms >= 0) await this.#fire(({ part, event }) => part === 'ad' && event === 'notViewable', ms);
    const picture = this.#picture ?? (await this.#screenshot());
    return { playedMs: Math.max(0, Math.round(ms)), errorCode: ms > 0 ? null : NOT_PLAYABLE, picture, isCut };
  }

  async #fire(isDue: (tracker: Logged) => boolean, playheadMs: number): Promise<void> {
    const { ad, linear } = this.#shown;
    const moment = { playheadMs, assetUrl: this.#assetUrl };
    await this.#player.log.fire(ad, (tracker) => isAbout(tracker, linear) && isDue(tracker), moment);
  }

  async #screenshot(): Promise<Buffer | null> {
    const { page } = this.#player;
    return page.picture(await page.box());
  }
}

/** How long a video is played in real time, and how long the rest of it may take. */
const REAL_TIME_MS = 15_000;
const REST_MS = 5_000;
const RATE_MAX = 16;

/**
 * The playback rate at a playhead: 1 for the first 15 s, in which impressions, views and most quartiles are due; then
 * as fast as ends the video within some seconds, at most 16, which is Chromium's limit. Pure.
 */
export function rateAt({ ms, durationMs }: Playhead): number {
  if (ms < REAL_TIME_MS || durationMs <= REAL_TIME_MS + REST_MS) return 1;
  return Math.min(RATE_MAX, Math.max(1, (durationMs - REAL_TIME_MS) / REST_MS));
}
