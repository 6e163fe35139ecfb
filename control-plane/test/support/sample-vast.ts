import type { CapturedTracker, CapturedVast, PlayedAd, TriedMedia } from '@adsweep/shared/capture/vast.ts';

/** Parts of what came of a VAST tag: a wrapper, an inline ad with one video, and its impression. */
export const sampleMedia: TriedMedia = {
  url: 'https://cdn.example/a.mp4',
  type: 'video/mp4',
  delivery: 'progressive',
  bitrate: 800,
  width: 640,
  height: 360,
  outcome: 'played',
  status_code: 200,
  content_type: 'video/mp4',
  bytes: 1_000_000,
  duration_ms: 10_000,
  actual_width: 640,
  actual_height: 360,
};

export const sampleAd: PlayedAd = {
  rung: 1,
  wrappers: [0],
  position: 0,
  id: '1',
  sequence: null,
  ad_system: 'server',
  title: 'Spot',
  advertiser: '',
  shown: 'video',
  duration_ms: 10_000,
  played_ms: 10_000,
  click_through: 'https://shop.example/',
  error_code: null,
  mediafile_url: sampleMedia.url,
  media: [sampleMedia],
  media_files: 1,
  companions: [],
  verifications: [],
  interactive: [],
  is_vpaid: false,
};

export const sampleTracker: CapturedTracker = {
  ad: 0,
  rung: 1,
  part: 'ad',
  event: 'impression',
  offset: null,
  url: 'https://track.example/i?cb=[CACHEBUSTING]',
  requested_url: 'https://track.example/i?cb=12345678',
  requested_at_ms: 1_200,
  playhead_ms: 40,
  status_code: 200,
};

const rung = (parent: number | null, url: string): CapturedVast['rungs'][number] => ({
  parent,
  depth: parent === null ? 0 : 1,
  outcome: 'ads',
  requested_url: url,
  url,
  status_code: 200,
  content_type: 'application/xml',
  bytes: 900,
  readable: true,
  vast_version: parent === null ? '3.0' : '4.2',
  ad_system: parent === null ? 'exchange' : 'server',
  at_ms: 300,
  elapsed_ms: 40,
});

export const sampleVast = (parts: Partial<CapturedVast> = {}): CapturedVast => ({
  failure: null,
  rungs: [rung(null, 'https://exchange.example/tag'), rung(0, 'https://server.example/inline')],
  ads: [sampleAd],
  trackers: [
    sampleTracker,
    {
      ...sampleTracker,
      event: 'skip',
      url: 'https://track.example/skip',
      requested_url: '',
      requested_at_ms: null,
      playhead_ms: null,
      status_code: 0,
    },
  ],
  trackers_left_out: 0,
  ...parts,
});
