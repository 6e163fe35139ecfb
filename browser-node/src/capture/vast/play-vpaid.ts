import { randomBytes } from 'node:crypto';
import type { VastDisplay, VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { runVpaid, type VpaidMessage, type VpaidStart, vpaidMessages } from '../page-scripts/vpaid.ts';
import { isOfServer } from '../session/urls.ts';
import { isAbout } from './ad-trackers.ts';
import type { TimedPlayer } from './player.ts';
import type { PlayerPage } from './player-page.ts';
import { OVER_THE_VIDEO } from './show-display.ts';
import type { Logged, TrackerLog } from './tracker-log.ts';

/**
 * Time for the script to start the ad, from there to the click, from there to the end, and for the ad to stop when
 * asked to.
 */
const START_MS = 8_000;
const BEFORE_CLICK_MS = 2_500;
const PLAY_MS = 12_000;
const STOP_MS = 1_000;
const POLL_MS = 100;
const BITRATE_KBPS = 1_500;

/** The tracking events of each event of a VPAID ad (VPAID 2.0, 5; VAST 4.3, 3.14.1). */
const TRACKING_EVENTS: Record<string, string[]> = {
  AdLoaded: ['loaded'],
  AdStarted: ['creativeView'],
  AdImpression: ['impression', 'viewable'],
  AdVideoStart: ['start'],
  AdVideoFirstQuartile: ['firstQuartile'],
  AdVideoMidpoint: ['midpoint'],
  AdVideoThirdQuartile: ['thirdQuartile'],
  AdVideoComplete: ['complete'],
  AdSkipped: ['skip'],
  AdUserAcceptInvitation: ['acceptInvitation', 'acceptInvitationLinear'],
  AdUserMinimize: ['collapse', 'minimize'],
  AdUserClose: ['close', 'closeLinear'],
  AdPaused: ['pause'],
  AdPlaying: ['resume'],
  AdClickThru: ['clickTracking'],
};

export type VpaidAd = {
  ad: number;
  part: 'linear' | 'nonlinear';
  form: VastLinear | VastDisplay;
  script: string;
  adParameters: string;
  width: number;
  height: number;
  /** The landing page where the ad leaves it to the player to open one, '' = none. */
  clickThrough: string;
};

/**
 * How a VPAID ad ended: with an error where it did not start or reported one; `isCut`: the time for all ads was over
 * before it.
 */
export type VpaidPlayed = { errorCode: number | null; picture: Buffer | null; playedMs: number; isCut: boolean };

/**
 * Runs a VPAID 2.0 ad in a frame over the video, as a player that trusts it does, and requests trackers for its events.
 * It is clicked while it runs, since afterwards there is nothing to click: the frame gets the click, and its script
 * reports a click-through (`AdClickThru`). A script that fails is removed.
 */
export async function playVpaid(
  { page, log, until, click }: Pick<TimedPlayer, 'page' | 'log' | 'until' | 'click'>,
  vpaid: VpaidAd,
): Promise<VpaidPlayed> {
  const token = randomBytes(8).toString('hex');
  const { script, adParameters, width, height } = vpaid;
  const run = new VpaidRun({ page, log, click }, vpaid, token);
  await run.update();
  const start = { script, token, width, height, bitrate: BITRATE_KBPS, adParameters };
  const frame = await page.show({ form: 'html', value: frameOf(start), width, height, over: OVER_THE_VIDEO });
  run.frame = frame;
  const isStarted = await run.wait(() => run.has('AdStarted') || run.has('AdImpression'), START_MS, until);
  let picture: Buffer | null = null;
  let isCut = false;
  if (isStarted) {
    await run.wait(() => run.has('AdVideoMidpoint'), BEFORE_CLICK_MS, until);
    picture = await page.picture(await page.box(frame));
    if (!run.isOver) await run.click();
    await run.wait(() => run.has('AdVideoComplete'), PLAY_MS, until);
    isCut = !run.isOver && performance.now() >= until;
    if (!run.isOver) await run.stop();
  }
  const hasFailed = run.has('AdError') || !isStarted;
  if (hasFailed) await page.remove([frame]);
  return { errorCode: hasFailed ? 901 : null, picture, playedMs: run.playedMs, isCut };
}

class VpaidRun {
  /** The id of the ad's frame, '' = it is not shown yet. */
  frame = '';
  readonly #page: PlayerPage;
  readonly #log: TrackerLog;
  readonly #click: TimedPlayer['click'];
  readonly #vpaid: VpaidAd;
  readonly #token: string;
  readonly #seen = new Map<string, VpaidMessage>();
  #lastAtMs = 0;
  #isClicking = false;

  constructor({ page, log, click }: Pick<TimedPlayer, 'page' | 'log' | 'click'>, vpaid: VpaidAd, token: string) {
    this.#page = page;
    this.#log = log;
    this.#click = click;
    this.#vpaid = vpaid;
    this.#token = token;
  }

  has(event: string): boolean {
    return this.#seen.has(event);
  }

  get isOver(): boolean {
    return this.has('AdStopped') || this.has('AdError') || this.#page.isGone;
  }

  get playedMs(): number {
    const startedAtMs = (this.#seen.get('AdStarted') ?? this.#seen.get('AdImpression'))?.atMs;
    return startedAtMs === undefined ? 0 : Math.max(0, this.#lastAtMs - startedAtMs);
  }

  /** Waits until it holds; false where the time is over first, or the ad is. */
  async wait(holds: () => boolean, ms: number, until: number): Promise<boolean> {
    const end = Math.min(until, performance.now() + ms);
    await this.update();
    while (!holds() && !this.isOver && performance.now() < end) {
      await this.#page.pause(POLL_MS);
      await this.update();
    }
    return holds();
  }

  /**
   * Clicks the ad. Meanwhile its events are read: it may leave it to the player to open the landing page (VPAID 2.0,
   * 3.3.14).
   */
  async click(): Promise<void> {
    this.#isClicking = true;
    const clicking = this.#click(null, this.frame, () => this.has('AdClickThru') || this.isOver).finally(() => {
      this.#isClicking = false;
    });
    // Together: a click that fails does so at any moment.
    await Promise.all([clicking, this.#readWhileClicking()]);
  }

  async #readWhileClicking(): Promise<void> {
    while (this.#isClicking) {
      await this.#page.pause(POLL_MS);
      await this.update();
    }
  }

  async stop(): Promise<void> {
    await this.update(true);
    await this.wait(() => this.has('AdStopped'), STOP_MS, Number.POSITIVE_INFINITY);
  }

  /** Reads the ad's new events and requests their trackers. With `stop`, the ad is asked to stop. */
  async update(stop = false): Promise<void> {
    const messages = (await this.#page.run(vpaidMessages, { token: this.#token, frame: this.frame, stop })) ?? [];
    for (const message of messages) {
      this.#seen.set(message.event, message);
      this.#lastAtMs = message.atMs;
      if (message.event === 'AdClickThru' && this.#isClicking) await this.#open(message);
      const events = TRACKING_EVENTS[message.event] ?? [];
      const { ad, form, script, part } = this.#vpaid;
      const isDue = (tracker: Logged) =>
        events.includes(tracker.event) && (tracker.part === 'ad' || tracker.part === part) && isAbout(tracker, form);
      await this.#log.fire(ad, isDue, { assetUrl: script, playheadMs: this.playedMs });
    }
  }

  /**
   * Opens the landing page of a click that the ad leaves to the player; `values`: its URL, '' = that of the document;
   * an id; whether it does.
   */
  async #open({ values: [url = '', , playerHandles] }: VpaidMessage): Promise<void> {
    const { ad, script, clickThrough } = this.#vpaid;
    const landing = url.trim() || clickThrough;
    const moment = { assetUrl: script, playheadMs: this.playedMs };
    if (playerHandles === 'true' && isOfServer(landing)) await this.#page.open(this.#log.fill(ad, landing, moment));
  }
}

/** The document of the ad's frame: the slot it draws in, a video element for it, and the script that runs it. */
function frameOf(start: VpaidStart): string {
  const argument = JSON.stringify(start).replaceAll('<', '\\u003c');
  return `<!doctype html><meta charset="utf-8"><style>html,body,#slot{margin:0;height:100%;overflow:hidden}video{position:absolute;inset:0;width:100%;height:100%}</style>
<body><video id="video" muted playsinline></video><div id="slot" style="position:absolute;inset:0"></div><script>(${runVpaid})(${argument})</script>`;
}
