import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { LeaseClient, MemberLease } from '@adsweep/shared/lease/client.ts';
import type { JobLimits } from '@adsweep/shared/lease/job-limits.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { CaptureFile } from '../capture/capture-outcome.ts';
import type { NodeMetrics } from '../metrics.ts';
import { isLost, isPassing, type Patience, patiently } from '../upload/patiently.ts';
import { leaveOutOversized, uploadFiles } from '../upload/upload-files.ts';
import type { Attempt } from './make-attempt.ts';

const CAUSE_LENGTH_MAX = 4_000;

/** What reporting needs; `patience`: how long it is tried again. */
export type ReportParts = { api: LeaseClient; metrics: NodeMetrics; patience?: Patience };
/** The member that a report is about, and the limits of its job. */
export type LeasedMember = MemberLease & { limits: Pick<JobLimits, 'artifact_bytes'> };
/** How a report ended; `unsaid`: nobody could be told. */
export type Reported = 'completed' | 'failed' | 'lost' | 'unsaid';

/**
 * Tells the control plane how an attempt ended: files first, the record last. While the control plane is away it is tried again, as the
 * lease may be adopted again; a lease that is lost ends it quietly. `unsaid`: the control plane stayed away. Throws what `signal` aborts with.
 */
export async function reportAttempt(
  parts: ReportParts,
  member: LeasedMember,
  attempt: Attempt,
  signal: AbortSignal,
  logger: Logger,
): Promise<Reported> {
  try {
    return await uploadAndSay(parts, member, attempt, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isLost(error)) return late(parts, logger);
    if (isPassing(error)) {
      logger.warn({ cause: error }, 'the control plane stayed away: a result was given up');
      return 'unsaid';
    }
    logger.error({ cause: error }, 'the control plane refused a result');
    return giveUp(parts, member, error as Error, signal, logger);
  }
}

async function uploadAndSay(
  parts: ReportParts,
  member: LeasedMember,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<'completed' | 'failed'> {
  const { api, metrics, patience } = parts;
  const { failure } = attempt;
  const capture = attempt.capture && (await upload(parts, member, attempt.capture, attempt.files, signal));
  if (!failure && capture) {
    await patiently(() => api.complete(member, capture), signal, patience);
    return 'completed';
  }
  const code = failure?.code ?? 'internal: ERROR';
  const cause = (failure?.cause ?? '').slice(0, CAUSE_LENGTH_MAX);
  await patiently(() => api.fail(member, { code, cause, capture }), signal, patience);
  metrics.failures.inc({ code });
  return 'failed';
}

/** Uploads the files of a capture; answers the capture that names them. */
async function upload(
  { api, metrics, patience }: ReportParts,
  member: LeasedMember,
  capture: Capture,
  files: CaptureFile[],
  signal: AbortSignal,
): Promise<Capture> {
  const kept = leaveOutOversized(capture, files, member.limits.artifact_bytes);
  const artifacts = await uploadFiles(api, member, kept.files, signal, patience);
  metrics.uploadedBytes.inc(artifacts.reduce((sum, { bytes }) => sum + bytes, 0));
  return { ...kept.capture, artifacts };
}

/** A result that is refused for what it is would be refused again: the attempt fails by our own fault. */
async function giveUp(
  { api, metrics, patience }: ReportParts,
  member: LeasedMember,
  error: Error,
  signal: AbortSignal,
  logger: Logger,
): Promise<Reported> {
  const code = 'internal: ERROR';
  try {
    await patiently(
      () => api.fail(member, { code, cause: error.message.slice(0, CAUSE_LENGTH_MAX), capture: null }),
      signal,
      patience,
    );
    metrics.failures.inc({ code });
    return 'failed';
  } catch (second) {
    signal.throwIfAborted();
    if (isLost(second)) return late({ api, metrics }, logger);
    logger.error({ cause: second }, 'a failure could not be reported');
    return 'unsaid';
  }
}

function late({ metrics }: ReportParts, logger: Logger): 'lost' {
  metrics.lateResults.inc();
  logger.info('a result came too late');
  return 'lost';
}
