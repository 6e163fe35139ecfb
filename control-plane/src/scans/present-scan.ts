import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { Hop } from '@adsweep/shared/capture/hop.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { isFinished } from '@adsweep/shared/scan/scan-status.ts';
import type { PresentedBrief, PresentedLanding, PresentedScan } from './responses.ts';
import type { ScanRecord } from './scan.ts';
import { timingOf } from './timing.ts';

/** What the accepted capture tells clients: when the crawl began, and each landing with the requests its documents made. */
export type Evidence = {
  started_at: Date;
  landings: (Omit<CapturedLanding, 'redirect_chain'> & { redirect_chain: Hop[] })[];
};

/** A scan as `GET /scans/{id}` answers it (spec 2.1); every field is always there. `publicUrl` without a final slash. */
export function presentScan(scan: ScanRecord, evidence: Evidence | null, publicUrl: string): PresentedScan {
  const { target, proxy } = scan;
  const landings = (evidence?.landings ?? []).map((one) => presentLanding(one, scan, evidence?.started_at, publicUrl));
  return {
    ...presentShared(scan, publicUrl),
    emulator_id: scan.emulator_id,
    max_discovered_ads: null,
    ad_formats: null,
    redirect_chain: landings.find(({ ord }) => ord === 0)?.redirect_chain ?? [],
    ad_tag: target.kind === 'ad_tag' ? target.value : null,
    vast_tag: target.kind === 'vast_tag' ? target.value : null,
    referrer: scan.referrer,
    ignore_first_n_domains: scan.ignore_first_n_domains,
    creative_kind: target.kind === 'vast_tag' ? 'video' : 'banner',
    ...NO_CREATIVE,
    proxy: proxy && { proxy_type: proxy.proxy_type, region: proxy.region, city: proxy.city, isp: proxy.isp },
    exit: scan.exit && presentExit(scan.exit),
    timing: isFinished(scan.status) ? timingOf(scan) : null,
    page_title: scan.capture?.page_title ?? '',
    error: scan.error,
    campaign_group_id: null,
    campaign_group_name: null,
    completed_at: scan.completed_at?.toISOString() ?? null,
    landings,
  };
}

/** A scan as a row of a list. */
export function presentBrief(scan: ScanRecord, publicUrl: string): PresentedBrief {
  const emulator = findEmulator(scan.emulator_id);
  return {
    ...presentShared(scan, publicUrl),
    proxy_type: scan.proxy?.proxy_type ?? 'residential',
    is_ad_tag: scan.target.kind === 'ad_tag',
    is_vast: scan.target.kind === 'vast_tag',
    emulator_display_name: emulator?.display_name ?? '',
    emulator_category: emulator?.category ?? '',
  };
}

/** What page scans never have: they load no creative of their own. */
const NO_CREATIVE = {
  creative_screenshot_url: '',
  creative_video_url: '',
  vast_xml_url: '',
  creative_html_url: '',
  creative_width: 0,
  creative_height: 0,
  creative_redirect_chain: [],
  video: null,
};

/** What scans outside campaigns, sweeps and repeat groups never have. */
const ALONE = {
  campaign_name: null,
  parent_scan_id: null,
  ad_discovery: false,
  slot_index: null,
  ad_kind: null,
  repeat_index: 0,
  repeat_total: 1,
  repeat_session_id: null,
};

function presentShared(scan: ScanRecord, publicUrl: string) {
  const { target, capture, classification } = scan;
  const finished = isFinished(scan.status);
  const report = `${publicUrl}/r/${scan.report_token}`;
  return {
    id: scan._id,
    url: target.kind === 'url' ? target.value : '',
    country_code: scan.country_code,
    status: scan.status,
    offer_url: capture?.offer_url ?? '',
    screenshot_url: capture?.has_screenshot ? `${publicUrl}/api/v1/scans/${scan._id}/screenshot` : '',
    report_url: report,
    public_report_url: report,
    labels: finished ? scan.labels : null,
    classification: finished ? classification : null,
    elapsed_ms: capture?.crawl_ms ?? 0,
    created_at: scan.created_at.toISOString(),
    campaign_id: scan.campaign_id,
    ...ALONE,
    network: scan.network,
    network_host: scan.network_host,
    retry_attempt: scan.retry_attempt,
    retry_max_attempts: scan.retry_max_attempts,
  };
}

function presentLanding(
  landing: Evidence['landings'][number],
  scan: ScanRecord,
  startedAt: Date | undefined,
  publicUrl: string,
): PresentedLanding {
  const screenshot = `${publicUrl}/api/v1/scans/${scan._id}/landings/${landing.ord}/screenshot`;
  return {
    ord: landing.ord,
    opener_url: landing.opener_url,
    final_url: landing.final_url,
    offer_url: landing.final_url,
    page_title: landing.page_title,
    screenshot_url: landing.screenshot === null ? '' : screenshot,
    redirect_chain: landing.redirect_chain,
    elapsed_ms: landing.elapsed_ms,
    created_at: new Date((startedAt ?? scan.created_at).getTime() + landing.opened_at_ms).toISOString(),
  };
}

function presentExit(exit: NonNullable<ScanRecord['exit']>): PresentedScan['exit'] {
  const { provider, exit_id, country_code, proxy_type, region, city, isp } = exit;
  const { session, ip, observed_country_code, asn, attempts } = exit;
  const known = { provider, exit_id, country_code, proxy_type, region, city, isp };
  return { ...known, session, ip, observed_country_code, asn, attempts };
}
