import type { CapturedTracker, PlayedAd, TriedMedia } from '@adsweep/shared/capture/vast.ts';
import type { Detector, Finding } from '../detector.ts';

/** A declared duration may be off by this much, or by this share of it. */
const DURATION_OFF_MS = 1_000;
const DURATION_OFF_SHARE = 0.1;
/** A declared bitrate may be off by this factor. */
const BITRATE_OFF_FACTOR = 2;

/** Media that cannot be played, or that differ from their document. */
export const vastMedia: Detector = {
  name: 'vast_media',
  needs: [],
  detect: ({ vast }) =>
    (vast?.ads ?? []).flatMap((ad, at) => [...unplayable(ad, at), ...wrongDuration(ad, at), ...wrongBitrate(ad, at)]),
};

/** Media that only our browser cannot decode are not the ad's fault: the device itself would play them. */
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
  unanswered: 'its server did not answer',
  broken: 'it cannot be played',
  undecodable: 'this browser cannot play it',
};

/** Error code of an ad whose required companion cannot be displayed (VAST 4.3, 2.3.6.3). */
const REQUIRED_COMPANION_MISSING = 602;

function nothingFor({ media_files, error_code, is_nonlinear }: PlayedAd): string {
  if (error_code === REQUIRED_COMPANION_MISSING)
    return 'a companion that it requires cannot be displayed (VAST 4.3, 3.13)';
  if (is_nonlinear) return 'none of its overlays has a form that a browser can show (VAST 4.3, 3.12.1)';
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
  // Of a stream, the file is only its list.
  if (!played?.bitrate || isStream(played) || played.bytes === 0 || played.duration_ms === 0) return [];
  const actual = (played.bytes * 8) / played.duration_ms;
  const factor = Math.max(played.bitrate / actual, actual / played.bitrate);
  if (factor <= BITRATE_OFF_FACTOR) return [];
  const text = `ad ${at + 1}: bitrate says ${played.bitrate} kbit/s, the file has ${Math.round(actual)} (VAST 4.3, 3.9.1)`;
  return [finding('vast_bitrate_mismatch', text)];
}

const isStream = ({ delivery, content_type }: TriedMedia): boolean =>
  /^streaming$/i.test(delivery) || /mpegurl|dash\+xml/i.test(content_type);

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** An ad's technique, in words; '' if the ad does not use it. */
type Technique = { slug: string; section: string; of: (ad: PlayedAd) => string };

const TECHNIQUES: Technique[] = [
  {
    slug: 'vast_vpaid',
    section: '3.9.1, apiFramework',
    of: ({ is_vpaid, shown }) =>
      is_vpaid ? `a VPAID script${shown === 'vpaid' ? ' ran in the player' : ' is there'}` : '',
  },
  {
    slug: 'vast_nonlinear',
    section: '3.12',
    of: ({ shown, is_nonlinear }) => (shown === 'nonlinear' || is_nonlinear ? 'nonlinear only' : ''),
  },
  {
    slug: 'vast_simid',
    section: '3.9.3',
    of: ({ interactive }) => listed(interactive.filter((one) => /^simid$/i.test(one))),
  },
  { slug: 'vast_omid', section: '3.17', of: ({ verifications }) => listed(verifications) },
];

/** Techniques of ads: scripts in the player, overlays without a video, verification. */
export const vastTechniques: Detector = {
  name: 'vast_techniques',
  needs: [],
  detect: ({ vast }) =>
    TECHNIQUES.flatMap(({ slug, section, of }) => {
      const seen = (vast?.ads ?? []).flatMap((ad, at) => (of(ad) ? [`ad ${at + 1}: ${of(ad)}`] : []));
      return seen.length === 0 ? [] : [finding(slug, `${seen.join('; ')} (VAST 4.3, ${section})`)];
    }),
};

const listed = (words: readonly string[]): string => [...new Set(words)].join(', ');

/** Trackers that a finding names; it counts the others. */
const NAMED_MAX = 6;

/** Impressions that are declared twice, and trackers that do not answer. */
export const vastTrackers: Detector = {
  name: 'vast_trackers',
  needs: [],
  detect({ vast }) {
    const trackers = vast?.trackers ?? [];
    return [...duplicateImpressions(trackers), ...failed(trackers)];
  },
};

/** The same impression twice in one ad, in any of its documents. */
function duplicateImpressions(trackers: readonly CapturedTracker[]): Finding[] {
  const impressions = trackers.filter(({ part, event }) => part === 'ad' && event === 'impression');
  const same = Map.groupBy(impressions, ({ ad, url }) => JSON.stringify([ad, url]));
  const twice = [...same.values()].filter(({ length }) => length > 1);
  if (twice.length === 0) return [];
  const named = twice.slice(0, NAMED_MAX).map((all) => `${all[0]?.url} is there ${all.length} times`);
  return [finding('vast_duplicate_impression', `${named.join('; ')} (VAST 4.3, 3.4.4)`)];
}

function failed(trackers: readonly CapturedTracker[]): Finding[] {
  const lost = trackers.filter(
    ({ requested_at_ms, status_code }) => requested_at_ms !== null && (status_code === 0 || status_code >= 400),
  );
  if (lost.length === 0) return [];
  const named = lost
    .slice(0, NAMED_MAX)
    .map(({ event, url, status_code }) => `${event} ${url}: ${status_code || 'no answer'}`);
  const more = lost.length > NAMED_MAX ? `; ${lost.length - NAMED_MAX} more` : '';
  return [finding('vast_tracker_failed', `${named.join('; ')}${more} (VAST 4.3, 2.3.4)`)];
}

const finding = (tag_slug: string, detail: string): Finding => ({ tag_slug, detail, url: '', surface: 'creative' });
