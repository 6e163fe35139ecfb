import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import { SUBJECT_ORD, subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { DiscoveredScan, ScanRecord } from '../../scan/scan.ts';
import {
  clip,
  type ReportAd,
  type ReportAdScan,
  type ReportNeighbour,
  type ReportPlace,
  type ReportSweep,
  type SeenEvidence,
  type Size,
  type TagWords,
  TITLE_MAX,
  URL_MAX,
} from './report.ts';

/**
 * The other scans of a sweep: those of its ads, and the sweep itself with its evidence (null: it was removed, or this
 * is the sweep).
 */
export type Relatives = { ads: readonly DiscoveredScan[]; sweep: { scan: ScanRecord; evidence: SeenEvidence } | null };

/**
 * Whether nobody can say which ads a page has: it was not captured, or its capture was removed. A report must not say
 * then that it has none.
 */
export const areAdsUnknown = (status: ScanStatus, isRemoved: boolean): boolean =>
  isRemoved || status === 'failed' || status === 'cancelled';

/**
 * The ads of a sweep: those in its capture, and before that is there or after it was removed, those that have a scan.
 * null: it is no sweep, or its ads are not known. The number and places of ads are a node's, and not trusted.
 */
export function publicSweep(
  scan: ScanRecord,
  evidence: SeenEvidence,
  ads: readonly DiscoveredScan[],
  tagWords: (slug: string) => TagWords | null,
): ReportSweep | null {
  if (!scan.discovery) return null;
  const scans = new Map(ads.flatMap((one) => (one.ad_block ? [[one.ad_block.identity, one] as const] : [])));
  const listed = evidence.adBlocks ?? [];
  const known = new Set(listed.map(({ identity }) => identity));
  const others = ads.flatMap(({ ad_block }) => (ad_block && !known.has(ad_block.identity) ? [ad_block] : []));
  const all = [...listed, ...others.map((block) => ({ ...block, not_scanned: null }))];
  if (all.length === 0 && areAdsUnknown(scan.status, scan.evidence_removed_at !== undefined)) return null;
  const shown = all.map(({ not_scanned, ...block }): ReportAd => {
    const found = scans.get(block.identity);
    return {
      ...publicAd(block),
      not_scanned: found ? null : (not_scanned ?? 'removed'),
      scan: found ? publicAdScan(found, tagWords) : null,
    };
  });
  return { ads: shown.toSorted((one, other) => one.number - other.number), page: pageSize(scan, evidence) };
}

/** The place of the scan of an ad among the others of its page; null: it is no such scan. */
export function publicPlace(scan: ScanRecord, { ads, sweep }: Relatives): ReportPlace | null {
  if (!scan.ad_block) return null;
  const { slot_index } = scan.ad_block;
  const slotOf = (one: DiscoveredScan) => one.ad_block?.slot_index ?? 0;
  const others = ads.filter(({ _id }) => _id !== scan._id).toSorted((one, other) => slotOf(one) - slotOf(other));
  const neighbour = (one: DiscoveredScan | undefined): ReportNeighbour | null =>
    one ? { token: one.report_token, number: slotOf(one) + 1 } : null;
  return {
    ad: publicAd(scan.ad_block),
    page: sweep && { token: sweep.scan.report_token, size: pageSize(sweep.scan, sweep.evidence) },
    previous: neighbour(others.findLast((one) => slotOf(one) < slot_index)),
    next: neighbour(others.find((one) => slotOf(one) > slot_index)),
  };
}

type BlockOnPage = Pick<
  AdBlock,
  'slot_index' | 'ad_kind' | 'network' | 'network_host' | 'x' | 'y' | 'width' | 'height'
>;

/** An ad as a report shows it: a pop has no place on its page. */
export function publicAd({
  slot_index,
  ad_kind: kind,
  network,
  network_host,
  ...rest
}: BlockOnPage): ReportPlace['ad'] {
  const { x, y, width, height } = rest;
  return {
    number: slot_index + 1,
    kind,
    network: clip(network, TITLE_MAX),
    network_host: kind === 'pop' ? '' : clip(network_host, TITLE_MAX),
    place: kind === 'pop' ? null : { x, y, width, height },
  };
}

function publicAdScan(scan: DiscoveredScan, tagWords: (slug: string) => TagWords | null): ReportAdScan {
  const { report_token: token, status, error, capture } = scan;
  const slugs = [...new Set(scan.tags.map(({ tag_slug }) => tag_slug))];
  const tags = slugs.flatMap((slug) => {
    const words = tagWords(slug);
    return words?.visibility === 'public' ? [{ slug, name: words.display_name, severity: words.severity }] : [];
  });
  return { token, status, error, tags, landing_url: clip(capture?.offer_url ?? '', URL_MAX), picture: pictureOf(scan) };
}

function pictureOf({ ad_block, capture, evidence_removed_at }: DiscoveredScan): ReportAdScan['picture'] {
  if (evidence_removed_at) return null;
  if (ad_block?.ad_kind === 'pop') return capture?.has_screenshot ? `landings/${SUBJECT_ORD}/screenshot` : null;
  return capture?.has_creative_screenshot ? 'creative-screenshot' : null;
}

/** The part of its page that the picture of a sweep shows, in CSS pixels; null: there is no picture. */
function pageSize({ emulator_id }: ScanRecord, { landings, artifacts }: SeenEvidence): Size | null {
  const name = subjectLanding(landings)?.screenshot ?? null;
  const picture = name === null ? undefined : artifacts.get(name);
  if (!picture || picture.width === 0 || picture.height === 0) return null;
  const ratio = findEmulator(emulator_id)?.device.deviceScaleFactor ?? 1;
  return { width: picture.width / ratio, height: picture.height / ratio };
}
