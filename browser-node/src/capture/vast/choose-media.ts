import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import type { VastLinear, VastMediaFile } from '@adsweep/shared/vast/vast-document.ts';

/** What a player chooses from a linear ad: a file to play, or a script that plays itself (VPAID). null: there is nothing suitable. */
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

/** Files with an interface of their own, and those that have nothing to do with it. */
const isVpaid = ({ apiFramework, type }: VastMediaFile): boolean =>
  /^vpaid$/i.test(apiFramework) && SCRIPTS.includes(essence(type));

/** Whether the device's own browser plays files of this type; one without a type is tried. */
export function isPlayedOn({ browser }: Device, { type, apiFramework }: VastMediaFile): boolean {
  const played = PLAYED[browser === 'safari' ? 'safari' : 'chromium'];
  return apiFramework === '' && (type === '' || played.includes(essence(type)));
}

/** Containers that browsers of Apple's play and our Chromium does not. */
const FOREIGN = ['video/quicktime', 'application/x-mpegurl', 'application/vnd.apple.mpegurl'];
/** Names of HEVC's sample entries (ISO/IEC 14496-15): devices have a decoder for it in hardware, our Chromium has none. */
const HEVC = ['hvc1', 'hev1'];

/** Whether a file that the device plays cannot be decoded here: by its declared type and codec, or by what is in it. Pure. */
export function needsOtherBrowser({ type, codec }: VastMediaFile, bytes: Buffer | undefined): boolean {
  const declared = `${type} ${codec}`.toLowerCase();
  return FOREIGN.includes(essence(type)) || HEVC.some((name) => declared.includes(name) || bytes?.includes(name));
}

/**
 * The files of a linear ad in the order in which a player on the device would take them (VAST 4.3, 3.9): a VPAID script first, for it is
 * where the ad's own code is; then the file whose size is next to the player's, then the bitrate. `playerWidth` in device pixels. Pure.
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

/** A file that is too small is worse than one that is too large; one without a declared size is in between. */
function widthDifference({ width }: VastMediaFile, playerWidth: number): number {
  if (!width) return playerWidth;
  return width >= playerWidth ? width - playerWidth : 2 * (playerWidth - width);
}

/** Progressive files first: adaptive streams need a player of their own where the browser has none. */
const delivered = ({ delivery }: VastMediaFile): number => (/^streaming$/i.test(delivery) ? 1 : 0);

const essence = (type: string): string => (type.split(';')[0] as string).trim().toLowerCase();
