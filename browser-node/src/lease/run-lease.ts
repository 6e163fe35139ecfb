import type { Lease } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { LeaseEnd } from '../metrics.ts';
import { isLost, PATIENCE, patiently } from '../upload/patiently.ts';
import type { AttemptStop } from './attempt-stop.ts';
import { type AttemptParts, makeAttempt } from './make-attempt.ts';
import type { Renewals } from './renewals.ts';
import { type ReportParts, reportAttempt } from './report-attempt.ts';

export type LeaseParts = AttemptParts & ReportParts & { renewals: Renewals };

/**
 * Runs one lease from its job to its result. Never throws: how it ended is the answer. A job that must be alone on its node is renewed
 * until `alone` resolves, and begins then.
 */
export async function runLease(
  parts: LeaseParts,
  lease: Lease,
  stop: AttemptStop,
  logger: Logger,
  alone: Promise<void> | null = null,
): Promise<LeaseEnd> {
  const patienceMs = (parts.patience ?? PATIENCE).forMs;
  const lastsMs = parts.attemptMs + 2 * patienceMs;
  // Before a job that waits for the others, each of them may last as long.
  const untilMs = Date.now() + (alone ? 2 * lastsMs + patienceMs : lastsMs);
  const letGo = parts.renewals.hold(lease, untilMs, (outcome) => stop.stop(outcome));
  try {
    if (alone) await beginAlone(parts, lease, stop, alone);
    return await attemptAndReport(parts, lease, stop, logger);
  } catch (error) {
    if (stop.reason === 'lost' || stop.reason === 'cancelled') return stop.reason;
    if (stop.reason === 'drain' || stop.reason === 'declined') return await release(parts, lease, logger);
    logger.error({ cause: error }, 'a lease ended by our own fault');
    return 'unsaid';
  } finally {
    letGo();
  }
}

/** Waits until the node has ended its other captures, then says so: only after that may this one end the node and be blamed for it. */
async function beginAlone(
  { api, patience }: LeaseParts,
  lease: Lease,
  stop: AttemptStop,
  alone: Promise<void>,
): Promise<void> {
  await stop.race(alone);
  try {
    await patiently(() => api.beginAlone(lease), stop.signal, patience);
  } catch (error) {
    stop.stop(isLost(error) ? 'lost' : 'declined');
    throw error;
  }
}

async function attemptAndReport(parts: LeaseParts, lease: Lease, stop: AttemptStop, logger: Logger): Promise<LeaseEnd> {
  const { metrics, attemptMs } = parts;
  const endCapture = metrics.captureSeconds.startTimer();
  const deadline = setTimeout(() => stop.stop('deadline'), attemptMs);
  const attempt = await makeAttempt(parts, lease.job, stop, logger).finally(() => clearTimeout(deadline));
  endCapture();
  if (attempt.failure) logger.info(attempt.failure, 'an attempt failed');
  const endUpload = metrics.uploadSeconds.startTimer();
  const reported = await reportAttempt(parts, lease, attempt, stop.gone, logger);
  endUpload();
  return reported;
}

/** The job goes back to the queue at once. When that fails it goes back a little later, when the lease runs out. */
async function release({ api }: LeaseParts, lease: Lease, logger: Logger): Promise<LeaseEnd> {
  await api.release(lease).catch((cause) => logger.warn({ cause }, 'a lease was not released'));
  return 'released';
}
