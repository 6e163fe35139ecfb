import type { MediaOutcome, TriedMedia } from '@adsweep/shared/capture/vast.ts';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import type { VastLinear, VastMediaFile } from '@adsweep/shared/vast/vast-document.ts';
import { type Entry, ORB_BLOCKED } from '../session/journal-entry.ts';
import { HEVC } from './intercept-responses.ts';
import type { TimedPlayer } from './player.ts';
import { lastRequest } from './requests-by-url.ts';

/** A media file of a linear ad: a video to play, or a script that plays itself (VPAID). */
export type MediaChoice = { kind: 'file' | 'vpaid'; file: VastMediaFile };

type Device = Pick<Emulator, 'browser' | 'category'>;

/** Media types that the device's own browser plays. */
const PLAYED = {
  safari: [
    'video/mp4',
    'video/quicktime',
    'video/x-m4v',
    'application/x-mpegurl',
    'application/vnd.apple.mpegurl',
    'audio/mpeg',
    'audio/mp4',
    'audio/aac',
  ],
  chromium: [
    'video/mp4',
    'video/webm',
    'video/ogg',
    'video/x-m4v',
    'audio/mpeg',
    'audio/mp4',
    'audio/aac',
    'audio/ogg',
    'audio/webm',
  ],
};
const SCRIPTS = ['application/javascript', 'application/x-javascript', 'text/javascript'];

/** Bitrates that players on such a device prefer, in kbit/s. */
const BITRATE = { handheld: 1_200, desktop: 3_000 };

/**
 * The files of a linear ad in the order in which a player on the device would try them (VAST 4.3, 3.9): a VPAID script
 * first, since it contains the ad's own code; then the file whose size is closest to the player's, then the closest
 * bitrate. `playerWidth` in device pixels. Pure.
 */
export function chooseMedia({ mediaFiles }: VastLinear, device: Device, playerWidth: number): MediaChoice[] {
  const scripts = mediaFiles.filter(isVpaid).map((file) => ({ kind: 'vpaid' as const, file }));
  const isHandheld = !device.category.endsWith('_desktop');
  const bitrate = isHandheld ? BITRATE.handheld : BITRATE.desktop;
  const files = mediaFiles
    .filter((file) => isPlayedOn(device, file))
    .map((file) => ({
      file,
      widthDifference: widthDifference(file, playerWidth),
      rate: Math.abs((file.bitrate ?? bitrate) - bitrate),
    }))
    .sort((a, b) => delivered(a.file) - delivered(b.file) || a.widthDifference - b.widthDifference || a.rate - b.rate);
  return [...scripts, ...files.map(({ file }) => ({ kind: 'file' as const, file }))];
}

const isVpaid = ({ apiFramework, type }: VastMediaFile): boolean =>
  /^vpaid$/i.test(apiFramework) && SCRIPTS.includes(essence(type));

/** The interfaces between ads and players, in any version (AdCOM 1.0, "API Frameworks"). */
const INTERFACE = /^(vpaid|mraid|ormma|omid|simid)/i;

/**
 * Whether the device's own browser plays files of this type; a file without a type is tried, one that needs an
 * interface is not.
 */
export function isPlayedOn({ browser }: Device, { type, apiFramework }: VastMediaFile): boolean {
  const played = PLAYED[browser === 'safari' ? 'safari' : 'chromium'];
  return !INTERFACE.test(apiFramework) && (type === '' || played.includes(essence(type)));
}

/** A file that is too small is worse than one that is too large; one without a declared size is in between. */
function widthDifference({ width }: VastMediaFile, playerWidth: number): number {
  if (!width) return playerWidth;
  return width >= playerWidth ? width - playerWidth : 2 * (playerWidth - width);
}

/** Progressive files first: where the browser does not play adaptive streams, they need a player of their own. */
const delivered = ({ delivery }: VastMediaFile): number => (/^streaming$/i.test(delivery) ? 1 : 0);

const essence = (type: string): string => (type.split(';')[0] as string).trim().toLowerCase();

const LOAD_MS = 10_000;
const POLL_MS = 100;
/** How long to wait for the status of a response that the browser blocked: it is reported after the failure. */
const STATUS_MS = 2_000;
const HAVE_CURRENT_DATA = 2;

/** The result of trying a file, in the fields of its record. */
type Tried = Pick<
  TriedMedia,
  'outcome' | 'status_code' | 'content_type' | 'bytes' | 'duration_ms' | 'actual_width' | 'actual_height'
>;

/** Loads a file into the player's video until its first frame is there, it fails, or its time is over. */
export async function loadMedia(
  player: Pick<TimedPlayer, 'page' | 'journal' | 'responses' | 'until'>,
  url: string,
  file: VastMediaFile,
): Promise<Tried> {
  const { page, responses, until } = player;
  responses.announceMedia(url);
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
    await page.pause(POLL_MS);
    state = await page.state();
  }
  const entry = await requestWithStatus(player, url);
  const isUndecodable = needsOtherBrowser(file) || responses.isHevc(url);
  const isReady = (state?.ready ?? 0) >= HAVE_CURRENT_DATA && state?.error === 0;
  // Chromium plays the audio of a video whose frames it cannot decode.
  const isPlayed = isReady && !(isUndecodable && state?.width === 0);
  const statusCode = entry?.gateway ? 0 : (entry?.statusCode ?? 0);
  return {
    outcome: isPlayed ? 'played' : failureOf(statusCode, isUndecodable),
    status_code: statusCode,
    content_type: (entry?.contentType || responses.contentTypeOfMedia(url)).slice(0, 300),
    bytes: mediaBytes(player, url),
    duration_ms: Math.round((state?.duration ?? 0) * 1_000),
    actual_width: state?.width ?? 0,
    actual_height: state?.height ?? 0,
  };
}

/** The size of a media file in bytes, 0 = not known (yet): a large file is still loading when it plays. */
export const mediaBytes = ({ responses, journal }: Pick<TimedPlayer, 'responses' | 'journal'>, url: string): number => {
  const entry = lastRequest(journal, url);
  return responses.lengthOfMedia(url) ?? (entry?.isWhole ? entry.bodySize : 0);
};

async function requestWithStatus(
  { page, journal }: Pick<TimedPlayer, 'page' | 'journal'>,
  url: string,
): Promise<Entry | undefined> {
  const giveUpAt = performance.now() + STATUS_MS;
  let entry = lastRequest(journal, url);
  while (entry?.fault === ORB_BLOCKED && entry.statusCode === 0 && !page.isGone && performance.now() < giveUpAt) {
    await page.pause(POLL_MS);
    entry = lastRequest(journal, url);
  }
  return entry;
}

/** Containers that Apple's browsers play and our Chromium does not. */
const FOREIGN = ['video/quicktime', 'application/x-mpegurl', 'application/vnd.apple.mpegurl'];
/** Whether our browser cannot decode a file that the device plays, by its declared type and codec. */
function needsOtherBrowser({ type, codec }: VastMediaFile): boolean {
  const declared = `${type} ${codec}`.toLowerCase();
  return FOREIGN.includes(essence(type)) || HEVC.some((name) => declared.includes(name));
}

function failureOf(statusCode: number, isUndecodable: boolean): MediaOutcome {
  if (statusCode >= 400) return 'refused';
  if (statusCode === 0) return 'unanswered';
  return isUndecodable ? 'undecodable' : 'broken';
}
