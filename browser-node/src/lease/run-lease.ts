import type { Lease } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { LeaseEnd } from '../metrics.ts';
import { PATIENCE } from '../upload/patiently.ts';
import type { AttemptStop } from './attempt-stop.ts';
import { type AttemptParts, makeAttempt } from './make-attempt.ts';
import type { Renewals } from './renewals.ts';
import { type ReportParts, reportAttempt } from './report-attempt.ts';

export type LeaseParts = AttemptParts & ReportParts & { renewals: Renewals };

/** Runs one lease from its job to its result. Never throws: how it ended is the answer. */
export async function runLease(parts: LeaseParts, lease: Lease, stop: AttemptStop, logger: Logger): Promise<LeaseEnd> {
  const patienceMs = (parts.patience ?? PATIENCE).forMs;
  const untilMs = Date.now() + parts.attemptMs + 2 * patienceMs;
  const letGo = parts.renewals.hold(lease, untilMs, (outcome) => stop.stop(outcome));
  try {
    return await attemptAndReport(parts, lease, stop, logger);
  } catch (error) {
    if (stop.reason === 'lost' || stop.reason === 'cancelled') return stop.reason;
    if (stop.reason === 'drain') return await release(parts, lease, logger);
    logger.error({ cause: error }, 'a lease ended by our own fault');
    return 'unsaid';
  } finally {
    letGo();
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
