import type { CrawlJob } from '@adsweep/shared/lease/crawl-job.ts';
import { isolationOf } from '../../scanning/scans/state/isolation.ts';
import type { ScanRecord } from '../../scanning/scans/state/scan.ts';

/**
 * What a node needs to know of a scan's attempt under lease `fence`. The exit session is of letters and digits alone, for it ends up
 * in providers' user names, and new for each lease: an attempt that failed must not meet the same exit again.
 */
export function crawlJobOf(scan: ScanRecord, fence: number): CrawlJob {
  return {
    scan_id: scan._id,
    attempt: scan.retry_attempt,
    target: scan.target,
    targeting: {
      country_code: scan.country_code,
      proxy_type: scan.proxy?.proxy_type ?? 'residential',
      region: scan.proxy?.region ?? '',
      city: scan.proxy?.city ?? '',
      isp: scan.proxy?.isp ?? '',
    },
    emulator_id: scan.emulator_id,
    referrer: scan.referrer,
    isolation: isolationOf(scan.lost_requeues),
    exit_session: `${scan._id.replaceAll('-', '')}${fence.toString(36)}`,
  };
}
