import type { PlayedAd, TriedMedia } from '@adsweep/shared/capture/vast.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';

/** A declared duration may be off by this much, or by this share of it. */
const DURATION_OFF_MS = 1_000;
const DURATION_OFF_SHARE = 0.1;
/** A declared bitrate may be off by this factor. */
const BITRATE_OFF_FACTOR = 2;

/** Videos that cannot be played, or are not what their document says. */
export const vastMedia: Detector = { name: 'vast_media', needs: [], detect };

function detect({ vast }: Pick<Evidence, 'vast'>): Finding[] {
  return (vast?.ads ?? []).flatMap((ad, at) => [
    ...unplayable(ad, at),
    ...wrongDuration(ad, at),
    ...wrongBitrate(ad, at),
  ]);
}

/** What the device itself would play and only our browser cannot is no fault of the ad's. */
function unplayable(ad: PlayedAd, at: number): Finding[] {
  if (ad.shown !== 'nothing' || ad.error_code === null || ad.media.some(({ outcome }) => outcome === 'undecodable'))
    return [];
  const tried = ad.media.map(
    ({ url, outcome, status_code }) => `${url}: ${WORDS[outcome]}${status_code > 0 ? ` (${status_code})` : ''}`,
  );
  const why = tried.length > 0 ? tried.join('; ') : nothingFor(ad);
  return [finding('vast_media_unplayable', `ad ${at + 1}: ${why}; error ${ad.error_code} (VAST 4.3, 2.3.6.3)`)];
}

const WORDS: Record<TriedMedia['outcome'], string> = {
  played: 'it plays',
  refused: 'its server refused it',
  unanswered: 'nobody answered',
  broken: 'it cannot be played',
  undecodable: 'this browser cannot play it',
};

/** Code of an ad that is not shown for want of a companion (VAST 4.3, 2.3.6.3). */
const REQUIRED_COMPANION_MISSING = 602;

function nothingFor({ media_files, error_code }: PlayedAd): string {
  if (error_code === REQUIRED_COMPANION_MISSING)
    return 'a companion that it must not be shown without cannot be displayed (VAST 4.3, 3.13)';
  return media_files === 0
    ? 'it has no media file (VAST 4.3, 3.9)'
    : `none of its ${media_files} media files is for this device (VAST 4.3, 3.9.1)`;
}

function wrongDuration({ duration_ms, media }: PlayedAd, at: number): Finding[] {
  const actual = media.find(({ outcome }) => outcome === 'played')?.duration_ms ?? 0;
  if (actual === 0 || duration_ms === null) return [];
  const off = Math.abs(duration_ms - actual);
  if (off <= Math.max(DURATION_OFF_MS, actual * DURATION_OFF_SHARE)) return [];
  return [
    finding(
      'vast_duration_mismatch',
      `ad ${at + 1}: Duration says ${seconds(duration_ms)}, the video takes ${seconds(actual)} (VAST 4.3, 3.8.1)`,
    ),
  ];
}

function wrongBitrate({ media }: PlayedAd, at: number): Finding[] {
  const played = media.find(({ outcome }) => outcome === 'played');
  if (!played?.bitrate || played.bytes === 0 || played.duration_ms === 0) return [];
  const actual = (played.bytes * 8) / played.duration_ms;
  const factor = Math.max(played.bitrate / actual, actual / played.bitrate);
  if (factor <= BITRATE_OFF_FACTOR) return [];
  const text = `ad ${at + 1}: bitrate says ${played.bitrate} kbit/s, the file has ${Math.round(actual)} (VAST 4.3, 3.9.1)`;
  return [finding('vast_bitrate_mismatch', text)];
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const finding = (tag_slug: string, detail: string): Finding => ({ tag_slug, detail, url: '', surface: 'creative' });
