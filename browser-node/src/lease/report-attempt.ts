import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { type LeaseClient, type MemberLease, NodeApiError } from '@adsweep/shared/lease/client.ts';
import type { JobLimits } from '@adsweep/shared/lease/job-limits.ts';
import { CAUSE_LENGTH_MAX } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RetryPolicy } from '@adsweep/shared/service/retry.ts';
import type { CaptureFailure, CaptureFile } from '../capture/session/capture-outcome.ts';
import type { NodeMetrics } from '../metrics.ts';
import { isLost, isRetryable, retryCall } from '../upload/retry-call.ts';
import { leaveOutOversized, smallFiles, uploadFiles } from '../upload/upload-files.ts';
import type { Attempt } from './make-attempt.ts';

/** What reporting needs; `retryPolicy`: how long it is tried again. */
export type ReportParts = { api: LeaseClient; metrics: NodeMetrics; retryPolicy?: RetryPolicy };
/** The member that a report is about, and the limits of its job. */
export type LeasedMember = MemberLease & {
  limits: Pick<JobLimits, 'artifact_bytes'>;
  /**
   * Adds to a capture, once its files were uploaded, what the control plane has to be asked for; absent: nothing is
   * added.
   */
  list?: ((capture: Capture, signal: AbortSignal) => Promise<Capture>) | undefined;
};
/** How a report ended; `unreported`: the control plane could not be reached. */
export type Reported = 'completed' | 'failed' | 'lost' | 'unreported';

/**
 * Reports to the control plane how an attempt ended: with one call if its files are small, else files first and the
 * record last. Retried while the control plane is unavailable, because the lease may be adopted again; a lost lease
 * ends it without an error. Throws what `signal` is aborted with.
 */
export async function reportAttempt(
  parts: ReportParts,
  member: LeasedMember,
  attempt: Attempt,
  signal: AbortSignal,
  logger: Logger,
): Promise<Reported> {
  try {
    return await uploadAndReport(parts, member, attempt, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isLost(error)) return countLate(parts, logger);
    if (isRetryable(error)) {
      logger.warn({ cause: error }, 'the control plane is unavailable: a result was discarded');
      return 'unreported';
    }
    logger.error({ cause: error }, 'the control plane refused a result');
    return giveUp(parts, member, error as Error, signal, logger);
  }
}

async function uploadAndReport(
  parts: ReportParts,
  member: LeasedMember,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<'completed' | 'failed'> {
  const { api, retryPolicy } = parts;
  const { failure } = attempt;
  if (!failure && attempt.capture && !member.list && (await isSentWhole(parts, member, attempt, signal)))
    return 'completed';
  const capture = attempt.capture && (await upload(parts, member, attempt.capture, attempt.files, signal));
  if (!failure && capture) {
    const listed = member.list ? await member.list(capture, signal) : capture;
    await retryCall(() => api.complete(member, listed), signal, retryPolicy);
    return 'completed';
  }
  return reportFailure(parts, member, failure ?? { code: 'internal: ERROR', cause: '' }, capture, signal);
}

async function reportFailure(
  { api, metrics, retryPolicy }: ReportParts,
  member: LeasedMember,
  { code, cause }: CaptureFailure,
  capture: Capture | null,
  signal: AbortSignal,
): Promise<'failed'> {
  const failure = { code, cause: cause.slice(0, CAUSE_LENGTH_MAX), capture };
  await retryCall(() => api.fail(member, failure), signal, retryPolicy);
  metrics.failures.inc({ code });
  return 'failed';
}

/**
 * Sends a capture together with its files; false: they are too large for that, or the control plane is of an earlier
 * version.
 */
async function isSentWhole(
  { api, metrics, retryPolicy }: ReportParts,
  member: LeasedMember,
  { capture, files }: Attempt,
  signal: AbortSignal,
): Promise<boolean> {
  const kept = capture && leaveOutOversized(capture, files, member.limits.artifact_bytes);
  const small = kept && smallFiles(kept.files);
  if (!small) return false;
  const whole = { ...kept.capture, artifacts: small.artifacts };
  try {
    await retryCall(() => api.completeWithFiles(member, whole, small.sent), signal, retryPolicy);
  } catch (error) {
    // The control plane has no such route, or no such scan: the calls that follow show which.
    if (error instanceof NodeApiError && (error.status === 404 || error.status === 405)) return false;
    throw error;
  }
  metrics.uploadedBytes.inc(small.artifacts.reduce((sum, { bytes }) => sum + bytes, 0));
  return true;
}

/** Uploads the files of a capture; returns the capture that lists them. */
async function upload(
  { api, metrics, retryPolicy }: ReportParts,
  member: LeasedMember,
  capture: Capture,
  files: CaptureFile[],
  signal: AbortSignal,
): Promise<Capture> {
  const kept = leaveOutOversized(capture, files, member.limits.artifact_bytes);
  const artifacts = await uploadFiles(api, member, kept.files, signal, retryPolicy);
  metrics.uploadedBytes.inc(artifacts.reduce((sum, { bytes }) => sum + bytes, 0));
  return { ...kept.capture, artifacts };
}

/** A result that was refused for its contents would be refused again, so the attempt fails with an internal error. */
async function giveUp(
  parts: ReportParts,
  member: LeasedMember,
  { message: cause }: Error,
  signal: AbortSignal,
  logger: Logger,
): Promise<Reported> {
  try {
    return await reportFailure(parts, member, { code: 'internal: ERROR', cause }, null, signal);
  } catch (second) {
    signal.throwIfAborted();
    if (isLost(second)) return countLate(parts, logger);
    logger.error({ cause: second }, 'a failure could not be reported');
    return 'unreported';
  }
}

function countLate({ metrics }: ReportParts, logger: Logger): 'lost' {
  metrics.lateResults.inc();
  logger.info('a result came too late');
  return 'lost';
}
