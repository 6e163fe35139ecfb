import { type ListedAdBlock, networkOfBlock } from '@adsweep/shared/capture/ad-block.ts';
import { CREATIVE_HTML, CREATIVE_SCREENSHOT, CREATIVE_VIDEO, VAST_XML } from '@adsweep/shared/capture/artifacts.ts';
import { subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { type Note, noteSentence } from '@adsweep/shared/capture/notes.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { isFinished } from '@adsweep/shared/scan/scan-status.ts';
import { evidenceRemovedAt, type ListedScan, type ScanRecord } from '../../../scan/scan.ts';
import { type PublicUrls, scanLinks } from '../../../scan/scan-links.ts';
import type { CampaignWords } from '../request/find-campaign.ts';
import { childScanId } from '../request/new-child-scan.ts';
import { companionsIn, type EvidenceLanding, NO_SCAN_EVIDENCE, type ScanEvidence } from './evidence.ts';
import { type FindTagWords, presentTagNames } from './present-tag.ts';
import type { PresentedBrief, PresentedLanding, PresentedScan } from './responses.ts';
import { timingOf } from './timing.ts';

/**
 * A scan as `GET /scans/{id}` returns it (spec 2.1); every field is always present. `campaign`: the names of
 * its campaign; null: it has none.
 */
export function presentScan(
  scan: ScanRecord,
  evidence: ScanEvidence,
  urls: PublicUrls,
  campaign: CampaignWords | null = null,
): PresentedScan {
  const { target, proxy } = scan;
  const landings = evidence.landings.map((landing) => presentLanding(landing, scan, urls));
  return {
    ...presentShared(scan, urls, campaign),
    emulator_id: scan.emulator_id,
    max_discovered_ads: scan.discovery?.max_discovered_ads ?? null,
    ad_formats: scan.discovery?.ad_formats ?? null,
    ad_blocks: scan.discovery ? (evidence.adBlocks ?? []).map((block) => presentAdBlock(scan, block)) : null,
    redirect_chain: subjectLanding(landings)?.redirect_chain ?? [],
    ad_tag: target.kind === 'ad_tag' ? target.value : null,
    vast_tag: target.kind === 'vast_tag' ? target.value : null,
    referrer: scan.referrer,
    ignore_first_n_domains: scan.ignore_first_n_domains,
    creative_kind: target.kind === 'vast_tag' ? 'video' : 'banner',
    ...presentCreative(scan, evidence, urls),
    proxy: proxy && { proxy_type: proxy.proxy_type, region: proxy.region, city: proxy.city, isp: proxy.isp },
    exit: scan.exit && presentExit(scan.exit),
    timing: isFinished(scan.status) ? timingOf(scan) : null,
    page_title: scan.capture?.page_title ?? '',
    error: scan.error,
    rules_out_of_budget: scan.rules_out_of_budget ?? { total: 0, rules: [] },
    left_out: evidence.notes.map(presentNote),
    evidence_removed_at: evidenceRemovedAt(scan)?.toISOString() ?? null,
    campaign_group_id: campaign?.groupId ?? null,
    campaign_group_name: campaign?.groupName ?? null,
    completed_at: scan.completed_at?.toISOString() ?? null,
    landings,
  };
}

const presentNote = (note: Note): PresentedScan['left_out'][number] => ({
  kind: note.kind,
  landing: note.landing,
  count: note.count,
  text: noteSentence(note),
});

/**
 * A scan as the call that created it returns it: for a group, the leader with the ids of the others. `scan` is the
 * leader with its target.
 */
export function presentCreated(
  scan: ScanRecord,
  group: ScanRecord[],
  urls: PublicUrls,
  campaign: CampaignWords | null,
): PresentedScan {
  const others = group.slice(1).map(({ _id }) => _id);
  return {
    ...presentScan(scan, NO_SCAN_EVIDENCE, urls, campaign),
    ...(others.length > 0 && { repeat_scan_ids: others }),
  };
}

/** A scan as a row of a list. `tagWords` finds the definitions of its tags. */
export function presentBrief(
  scan: ListedScan,
  urls: PublicUrls,
  campaign: CampaignWords | null,
  tagWords: FindTagWords,
): PresentedBrief {
  const emulator = findEmulator(scan.emulator_id);
  return {
    ...presentShared(scan, urls, campaign),
    proxy_type: scan.proxy?.proxy_type ?? 'residential',
    is_ad_tag: scan.target.kind === 'ad_tag',
    is_vast: scan.target.kind === 'vast_tag',
    emulator_display_name: emulator?.display_name ?? '',
    emulator_category: emulator?.category ?? '',
    tags: presentTagNames(scan, tagWords),
  };
}

/** `identity` is for nodes alone. */
function presentAdBlock({ _id }: ScanRecord, block: ListedAdBlock) {
  const { identity, slot_index, ad_kind, x, y, width, height, signals, not_scanned } = block;
  const scan_id = not_scanned === null ? childScanId(_id, { identity }) : null;
  return { slot_index, ad_kind, ...networkOfBlock(block), x, y, width, height, signals, scan_id, not_scanned };
}

/**
 * The creative and its artifacts. Pages have none: they load no creative of their own. An ad on a page has no chain
 * (spec 2.1).
 */
function presentCreative(scan: ScanRecord, { creative, vast, artifacts }: ScanEvidence, urls: PublicUrls) {
  const links = scanLinks(urls, scan);
  return {
    creative_screenshot_url: artifacts.has(CREATIVE_SCREENSHOT) ? links.creativeScreenshot : '',
    creative_video_url: artifacts.has(CREATIVE_VIDEO) ? links.creativeVideo : '',
    vast_xml_url: artifacts.has(VAST_XML) ? links.vastXml : '',
    creative_html_url: artifacts.has(CREATIVE_HTML) ? links.creativeHtml : '',
    creative_width: creative?.width ?? 0,
    creative_height: creative?.height ?? 0,
    creative_redirect_chain: scan.target.kind === 'ad_tag' ? (creative?.redirect_chain ?? []) : [],
    video: vast?.video ?? null,
    vast: vast && {
      wrappers: vast.wrappers,
      wrappers_left_out: vast.wrappers_left_out,
      ads: vast.ads,
      companions: companionsIn(artifacts).map((place) => ({ place, screenshot_url: links.companionScreenshot(place) })),
      ads_left_out: vast.ads_left_out,
      trackers: vast.trackers,
      trackers_left_out: vast.trackers_left_out,
    },
  };
}

function presentShared(scan: ListedScan, urls: PublicUrls, campaign: CampaignWords | null) {
  const { target, capture, classification } = scan;
  const finished = isFinished(scan.status);
  const links = scanLinks(urls, scan);
  return {
    id: scan._id,
    url: target.kind === 'url' ? target.value : '',
    country_code: scan.country_code,
    status: scan.status,
    offer_url: capture?.offer_url ?? '',
    screenshot_url: capture?.has_screenshot ? links.screenshot : '',
    report_url: links.report,
    public_report_url: links.publicReport,
    labels: finished ? scan.labels : {},
    classification: finished ? classification : null,
    elapsed_ms: capture?.crawl_ms ?? 0,
    created_at: scan.created_at.toISOString(),
    campaign_id: scan.campaign_id,
    campaign_name: campaign?.name ?? null,
    parent_scan_id: scan.parent_scan_id,
    ad_discovery: scan.discovery !== undefined,
    slot_index: scan.ad_block?.slot_index ?? null,
    ad_kind: scan.ad_block?.ad_kind ?? null,
    repeat_index: scan.repeat?.index ?? 0,
    repeat_total: scan.repeat?.total ?? 1,
    repeat_leader_id: scan.repeat?.leader_id ?? null,
    repeat_session_id: scan.repeat?.session_id ?? null,
    network: scan.network,
    network_host: scan.network_host,
    retry_attempt: scan.retry_attempt,
    retry_max_attempts: scan.retry_max_attempts,
  };
}

/** A node's timestamps are not trusted; an invalid one is replaced by the scan's. */
function presentLanding(landing: EvidenceLanding, scan: ScanRecord, urls: PublicUrls): PresentedLanding {
  const { screenshot, created_at, ...rest } = landing;
  return {
    ...rest,
    screenshot_url: screenshot === null ? '' : scanLinks(urls, scan).landingScreenshot(landing.ord),
    created_at: (Number.isNaN(created_at.getTime()) ? scan.created_at : created_at).toISOString(),
  };
}

function presentExit(exit: NonNullable<ScanRecord['exit']>): PresentedScan['exit'] {
  const { provider, exit_id, country_code, proxy_type, region, city, isp } = exit;
  const { session, verified = null, ip, observed_country_code, asn, attempts } = exit;
  const known = { provider, exit_id, country_code, proxy_type, region, city, isp };
  return { ...known, session, verified, ip, observed_country_code, asn, attempts };
}
