import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { CrawlJob, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { carried, inSpan, type OpenSpan } from '@adsweep/shared/tracing/spans.ts';
import { type CapturePage, removeFiles } from '../capture/session/capture-outcome.ts';
import type { Sweep } from '../capture/sweep/sweep.ts';
import { RETRY_POLICY } from '../upload/retry-call.ts';
import type { AttemptContexts } from './attempt-contexts.ts';
import type { AttemptStop } from './attempt-stop.ts';
import { type AttemptParts, makeAttempt } from './make-attempt.ts';
import type { Renewals } from './renewals.ts';
import { type Reported, type ReportParts, reportAttempt } from './report-attempt.ts';

export type LeaseParts = AttemptParts & ReportParts & { renewals: Renewals; startSweep: () => Sweep };

/** A lease that runs. */
export type LeaseRun = {
  parts: LeaseParts;
  lease: Lease;
  contexts: AttemptContexts;
  stop: AttemptStop;
  logger: Logger;
};

/**
 * How a member is run. `list`: adds to its capture, after its files were
 * uploaded, what the control plane has to be asked for.
 */
export type MemberWork = {
  capturePage: CapturePage;
  list?: (capture: Capture, signal: AbortSignal) => Promise<Capture>;
};

/** What one attempt may take: what its job allows, or what this node does, if that is less. */
const attemptMsOf = ({ attemptMs }: LeaseParts, { limits }: CrawlJob): number =>
  Math.min(limits.seconds * 1000, attemptMs);

/** What a member may take, its report included. */
export const memberMsOf = (parts: LeaseParts, job: CrawlJob): number =>
  attemptMsOf(parts, job) + 2 * (parts.retryPolicy ?? RETRY_POLICY).forMs;

/**
 * One member from its exit to its result. A deadline ends only its own attempt; whatever ends the lease ends this too.
 * Throws when the lease has ended.
 */
export function runMember(run: LeaseRun, member: JobMember, work: MemberWork): Promise<Reported> {
  const { kind, isolation } = run.lease.job;
  const attributes = {
    'adsweep.scan.id': member.scan_id,
    'adsweep.attempt': member.attempt,
    'adsweep.job.kind': kind,
    'adsweep.job.isolation': isolation,
  };
  return inSpan('attempt', member.traceparent, { attributes }, (span) =>
    runTraced(run, { ...member, ...carried(span.traceparent) }, work, span),
  );
}

async function runTraced(run: LeaseRun, member: JobMember, work: MemberWork, span: OpenSpan): Promise<Reported> {
  const { lease, contexts, stop: leaseStop } = run;
  const parts = { ...run.parts, capturePage: work.capturePage };
  const { lease_id, token, job } = lease;
  const { scan_id, attempt: number } = member;
  leaseStop.throwIfEnded();
  parts.renewals.extend(lease, memberMsOf(parts, job));
  const logger = run.logger.child({ scan_id, attempt: number });
  const stop = leaseStop.forAttempt();
  const endCapture = parts.metrics.captureSeconds.startTimer();
  const deadline = setTimeout(() => stop.stop('deadline'), attemptMsOf(parts, job));
  const leased = { lease_id, token, scan_id, limits: job.limits };
  const reporting = { ...parts, reportLoaded: () => parts.api.reportLoaded(leased) };
  const attempt = await makeAttempt(reporting, job, member, contexts, stop, logger).finally(() => {
    clearTimeout(deadline);
    // The other members could not run here either.
    if (stop.reason === 'declined') leaseStop.stop('declined');
  });
  endCapture();
  if (attempt.failure) {
    logger.info(attempt.failure, 'an attempt failed');
    span.fail(attempt.failure.code);
  }
  const endUpload = parts.metrics.uploadSeconds.startTimer();
  try {
    const end = await inSpan('upload', member.traceparent, {}, () =>
      reportAttempt(parts, { ...leased, list: work.list }, attempt, stop.gone, logger),
    );
    span.add({ 'adsweep.attempt.end': end });
    if (end === 'lost') leaseStop.stop('lost');
    return end;
  } finally {
    endUpload();
    await removeFiles(attempt.files);
  }
}
