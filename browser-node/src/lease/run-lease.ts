import type { JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { LeaseEnd } from '../metrics.ts';
import { isLost, RETRY_POLICY, retryCall } from '../upload/retry-call.ts';
import { AttemptContexts } from './attempt-contexts.ts';
import type { AttemptStop } from './attempt-stop.ts';
import type { Reported } from './report-attempt.ts';
import { type LeaseParts, type LeaseRun, memberMsOf, runMember } from './run-member.ts';
import { runSweep } from './run-sweep.ts';

/** Ordered by severity, the worst first. */
const ENDS = ['unreported', 'lost', 'failed', 'completed'] as const satisfies Reported[];

/**
 * Runs one lease from its job to its results, one member after the other. Never throws: it returns how the lease ended,
 * which is the worst of its members' outcomes. A job that must be alone on its node is renewed until `alone` resolves,
 * and then begins.
 */
export async function runLease(
  parts: LeaseParts,
  lease: Lease,
  stop: AttemptStop,
  logger: Logger,
  alone: Promise<void> | null,
): Promise<LeaseEnd> {
  const retryMs = (parts.retryPolicy ?? RETRY_POLICY).forMs;
  // Before a job that waits for the others, each of them may take its time.
  const forMs = memberMsOf(parts, lease.job) + (alone ? parts.attemptMs + 3 * retryMs : 0);
  const contexts = new AttemptContexts(parts, lease.job);
  const run = { parts, lease, contexts, stop, logger };
  const endRenewal = parts.renewals.hold(lease, forMs, (outcome) => stop.stop(outcome));
  try {
    if (alone) await beginAlone(parts, lease, stop, alone);
    const ends = lease.job.kind === 'sweep' ? await runSweep(run) : await runMembers(run, lease.job.members);
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

/** Runs members of a job one after the other. Throws when the lease ends before the last one. */
async function runMembers(run: LeaseRun, members: readonly JobMember[]): Promise<Set<Reported>> {
  const ends = new Set<Reported>();
  for (const member of members) ends.add(await runMember(run, member, { capturePage: run.parts.capturePage }));
  return ends;
}

/**
 * Waits until the node has ended its other captures, then reports it: only after that can a lost node be blamed on this
 * job.
 */
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

/** Returns the job to the queue at once. If that fails, the job returns when the lease expires. */
async function release({ api }: LeaseParts, lease: Lease, logger: Logger): Promise<LeaseEnd> {
  await api.release(lease).catch((cause) => logger.warn({ cause }, 'a lease was not released'));
  return 'released';
}
