import { CONTENT_TYPES } from '@adsweep/shared/capture/artifacts.ts';
import type { Note } from '@adsweep/shared/capture/notes.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import type { VastDisplay, VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { NetworkJournal } from '../session/network-journal.ts';
import { isAbout } from './ad-trackers.ts';
import type { ResponseInterceptor } from './intercept-responses.ts';
import type { PlayerPage } from './player-page.ts';
import type { Logged, Moment, TrackerLog } from './tracker-log.ts';

/** The player that all ads of a tag are played with. */
export type Player = {
  page: PlayerPage;
  log: TrackerLog;
  journal: NetworkJournal;
  responses: ResponseInterceptor;
  emulator: Pick<Emulator, 'browser' | 'category'>;
  /** Of the player, in CSS pixels. */
  size: { width: number; height: number };
  /** Width of the player in device pixels. */
  pixelWidth: number;
  /**
   * Clicks the player, once for the whole tag: its page requests `trackers` and opens `url`; null: what it shows
   * handles the click. `shown`: the id of the resource that is clicked, '' = the player itself. What handles the click
   * itself is clicked in its centre, then where else it looks clickable, until something opens or `hasReacted`. Returns
   * whether the page got the click.
   */
  click: (
    click: { url: string; trackers: string[] } | null,
    shown?: string,
    hasReacted?: () => boolean,
  ) => Promise<boolean>;
  files: CaptureFile[];
  /** What the capture lacks. */
  notes: Note[];
};

/** A player, and when the time for all ads ends, by `performance.now()`. */
export type TimedPlayer = Player & { until: number };

/**
 * The result of showing an ad; `isCut`: the time for all ads was over before it; `mediafile_url` where a file or a
 * script was used.
 */
export type ShowOutcome = Pick<PlayedAd, 'shown' | 'played_ms' | 'media' | 'error_code'> & {
  picture: Buffer | null;
  isCut: boolean;
  mediafile_url?: string;
};

/** The outcome of an ad that was not shown, with its error code (VAST 4.3, 2.3.6.3). */
export const notShown = (errorCode: number | null): ShowOutcome => ({
  shown: 'nothing',
  played_ms: 0,
  media: [],
  error_code: errorCode,
  picture: null,
  isCut: false,
});

/** What of an ad is clicked, and its landing page, '' = none. */
type Clicked = { part: 'linear' | 'nonlinear'; form: VastLinear | VastDisplay; url: string };

/**
 * Clicks an ad that has a landing page: its click trackers are requested and the page opens. They count as requested
 * only if it got the click.
 */
export async function clickAd(
  { log, click, size }: Player,
  ad: number,
  { part, form, url }: Clicked,
  when: Moment = {},
): Promise<void> {
  if (url === '') return;
  const moment = { ...when, click: { x: Math.round(size.width / 2), y: Math.round(size.height / 2) } };
  const isDue = (tracker: Logged) =>
    tracker.part === part && tracker.event === 'clickTracking' && isAbout(tracker, form);
  const due = log.due(ad, isDue, moment);
  if (await click({ url: log.fill(ad, url, moment), trackers: due.map((one) => one.url) })) log.requested(due);
}

/** A screenshot as a file of the capture. */
export const screenshotFile = (name: string, bytes: Buffer): CaptureFile => ({
  name,
  contentType: CONTENT_TYPES.jpeg,
  bytes,
  ...(jpegSize(bytes) ?? { width: 0, height: 0 }),
});
