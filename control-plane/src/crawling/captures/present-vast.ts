import type { CapturedVast, PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { EvidenceVast, Video } from '../../scanning/scans/api/evidence.ts';

/**
 * Presents what a VAST tag loaded. Copied field by field, so that unknown fields of a node's capture never reach
 * clients.
 */
export function presentVast(vast: CapturedVast): EvidenceVast {
  return {
    video: videoOf(vast),
    wrappers: vast.rungs.map((wrapper) => ({
      parent: wrapper.parent,
      depth: wrapper.depth,
      outcome: wrapper.outcome,
      url: wrapper.url || wrapper.requested_url,
      status_code: wrapper.status_code,
      content_type: wrapper.content_type,
      bytes: wrapper.bytes,
      readable: wrapper.readable,
      vast_version: wrapper.vast_version,
      ad_system: wrapper.ad_system,
      at_ms: wrapper.at_ms,
      elapsed_ms: wrapper.elapsed_ms,
    })),
    wrappers_left_out: vast.rungs_left_out ?? 0,
    ads: vast.ads.map((ad) => ({
      id: ad.id,
      sequence: ad.sequence,
      title: ad.title,
      advertiser: ad.advertiser,
      shown: ad.shown,
      duration_ms: ad.duration_ms,
      played_ms: ad.played_ms,
      error_code: ad.error_code,
      wrapper_depth: ad.wrappers.length,
      media: ad.media.map(({ url, type, outcome, status_code, bytes, duration_ms, actual_width, actual_height }) => ({
        url,
        type,
        outcome,
        status_code,
        bytes,
        duration_ms,
        width: actual_width,
        height: actual_height,
      })),
    })),
    ads_left_out: vast.ads_left_out ?? 0,
    trackers: vast.trackers.map((tracker) => ({
      ad: tracker.ad,
      wrapper: tracker.rung,
      part: tracker.part,
      event: tracker.event,
      offset: tracker.offset,
      url: tracker.url,
      requested_url: tracker.requested_url,
      requested_at_ms: tracker.requested_at_ms,
      playhead_ms: tracker.playhead_ms,
      status_code: tracker.status_code,
    })),
    trackers_left_out: vast.trackers_left_out,
  };
}

/**
 * The metadata of the inline document (spec 2.1): of its first ad that has a video, otherwise of its first ad. In a
 * pod, this is the first in the document, which need not be played first. null: the tag returned no ad. Pure.
 */
export function videoOf({ ads, rungs }: CapturedVast): Video | null {
  const ad = firstInDocument(ads);
  if (!ad) return null;
  return {
    duration_ms: ad.duration_ms ?? 0,
    mediafile_url: ad.mediafile_url,
    vast_version: rungs[ad.rung]?.vast_version ?? '',
    ad_system: ad.ad_system,
    is_vpaid: ad.is_vpaid,
    wrapper_depth: ad.wrappers.length,
    click_through: ad.click_through,
  };
}

function firstInDocument(ads: readonly PlayedAd[]): PlayedAd | undefined {
  const ofDocument = ads.filter(({ rung }) => rung === ads[0]?.rung).toSorted((a, b) => a.position - b.position);
  return ofDocument.find(({ media_files }) => media_files > 0) ?? ofDocument[0];
}
