import type { CrawlJob, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { LeaseEnd } from '../metrics.ts';
import { isLost, RETRY_POLICY, retryCall } from '../upload/retry-call.ts';
import { removeFiles } from '../upload/upload-files.ts';
import { AttemptContexts } from './attempt-contexts.ts';
import type { AttemptStop } from './attempt-stop.ts';
import { type AttemptParts, makeAttempt } from './make-attempt.ts';
import type { Renewals } from './renewals.ts';
import { type Reported, type ReportParts, reportAttempt } from './report-attempt.ts';

export type LeaseParts = AttemptParts & ReportParts & { renewals: Renewals };

/** Ordered by severity, the worst first. */
const ENDS = ['unreported', 'lost', 'failed', 'completed'] as const satisfies Reported[];

/**
 * Runs one lease from its job to its results, one member after the other. Never throws: it returns how the lease ended, which is the worst
 * of its members' outcomes. A job that must be alone on its node is renewed until `alone` resolves, and then begins.
 */
export async function runLease(
  parts: LeaseParts,
  lease: Lease,
  stop: AttemptStop,
  logger: Logger,
  alone: Promise<void> | null = null,
): Promise<LeaseEnd> {
  const retryMs = (parts.retryPolicy ?? RETRY_POLICY).forMs;
  const memberMs = attemptMsOf(parts, lease.job) + 2 * retryMs;
  // Before a job that waits for the others, each of them may take its time.
  const untilMs = Date.now() + memberMs + (alone ? parts.attemptMs + 3 * retryMs : 0);
  const contexts = new AttemptContexts(parts, lease.job);
  const endRenewal = parts.renewals.hold(lease, untilMs, (outcome) => stop.stop(outcome));
  try {
    if (alone) await beginAlone(parts, lease, stop, alone);
    const ends = new Set<Reported>();
    for (const member of lease.job.members) {
      stop.throwIfEnded();
      parts.renewals.extend(lease, Date.now() + memberMs);
      const end = await runMember(parts, lease, member, contexts, stop, logger);
      ends.add(end);
      if (end === 'lost') stop.stop('lost');
    }
    return ENDS.find((end) => ends.has(end)) ?? 'completed';
  } catch (error) {
    if (stop.reason === 'lost' || stop.reason === 'cancelled') return stop.reason;
    if (stop.reason === 'drain' || stop.reason === 'declined') return await release(parts, lease, logger);
    logger.error({ cause: error }, 'a lease ended with an internal error');
    return 'unreported';
  } finally {
    endRenewal();
    await contexts.close(stop);
  }
}

/** What one attempt may take: what its job allows, or what this node does, if that is less. */
const attemptMsOf = ({ attemptMs }: LeaseParts, { limits }: CrawlJob): number =>
  Math.min(limits.seconds * 1000, attemptMs);

/** Waits until the node has ended its other captures, then reports it: only after that can a lost node be blamed on this job. */
async function beginAlone(
  { api, retryPolicy }: LeaseParts,
  lease: Lease,
  stop: AttemptStop,
  alone: Promise<void>,
): Promise<void> {
  await stop.race(alone);
  try {
    await retryCall(() => api.beginAlone(lease), stop.signal, retryPolicy);
  } catch (error) {
    stop.stop(isLost(error) ? 'lost' : 'declined');
    throw error;
  }
}

/** One member from its exit to its result. A deadline ends only its own attempt; whatever ends the lease ends this too. */
async function runMember(
  parts: LeaseParts,
  { lease_id, token, job }: Lease,
  member: JobMember,
  contexts: AttemptContexts,
  leaseStop: AttemptStop,
  leaseLogger: Logger,
): Promise<Reported> {
  const { metrics } = parts;
  const { scan_id, attempt: number } = member;
  const logger = leaseLogger.child({ scan_id, attempt: number });
  const stop = leaseStop.forAttempt();
  const endCapture = metrics.captureSeconds.startTimer();
  const deadline = setTimeout(() => stop.stop('deadline'), attemptMsOf(parts, job));
  const leased = { lease_id, token, scan_id, limits: job.limits };
  const reporting = { ...parts, reportLoaded: () => parts.api.reportLoaded(leased) };
  const attempt = await makeAttempt(reporting, job, member, contexts, stop, logger).finally(() =>
    clearTimeout(deadline),
  );
  endCapture();
  if (attempt.failure) logger.info(attempt.failure, 'an attempt failed');
  const endUpload = metrics.uploadSeconds.startTimer();
  try {
    return await reportAttempt(parts, leased, attempt, stop.gone, logger);
  } finally {
    endUpload();
    await removeFiles(attempt.files);
  }
}

/** Returns the job to the queue at once. If that fails, the job returns when the lease expires. */
async function release({ api }: LeaseParts, lease: Lease, logger: Logger): Promise<LeaseEnd> {
  await api.release(lease).catch((cause) => logger.warn({ cause }, 'a lease was not released'));
  return 'released';
}
