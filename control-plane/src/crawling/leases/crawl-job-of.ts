import type { CrawlJob, Isolation, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import { JOB_LIMITS, type JobKind } from '@adsweep/shared/lease/job-limits.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { LeaseRef } from '../queue/queued-job.ts';

/**
 * What a node needs to know of a job whose `members` it has leased. The exit session is of letters and digits alone, for it ends up in
 * providers' user names, and new for each lease: an attempt that failed must not meet the same exit again.
 */
export function crawlJobOf(
  { jobId, fence }: LeaseRef,
  kind: JobKind,
  isolation: Isolation,
  members: ScanRecord[],
): CrawlJob {
  return {
    job_id: jobId,
    kind,
    isolation,
    limits: JOB_LIMITS[kind],
    exit_session: `${jobId.replaceAll('-', '')}${fence.toString(36)}`,
    members: members.map(jobMemberOf),
  };
}

/** What a node needs to know of one scan. */
export function jobMemberOf(scan: ScanRecord): JobMember {
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
  };
}
