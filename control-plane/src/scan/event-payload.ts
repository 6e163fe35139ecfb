import type { CommonPayload } from '@adsweep/shared/events/event-kinds.ts';
import type { ScanRecord } from './scan.ts';
import { type PublicUrls, scanLinks } from './scan-links.ts';

/**
 * What every event says of its scan; `status` and `labels` are those that the scan gets in the update that the event is
 * written with.
 */
export function eventPayload(
  urls: PublicUrls,
  scan: ScanRecord,
  { status, labels = scan.labels }: Pick<CommonPayload, 'status'> & Partial<Pick<CommonPayload, 'labels'>>,
): CommonPayload {
  const { _id, target, country_code, emulator_id, campaign_id, run_id, parent_scan_id } = scan;
  const links = scanLinks(urls, scan);
  return {
    scan_id: _id,
    status,
    url: target.kind === 'url' ? target.value : '',
    country_code,
    emulator_id,
    campaign_id,
    run_id,
    parent_scan_id,
    labels,
    report_url: links.report,
    public_report_url: links.publicReport,
  };
}
