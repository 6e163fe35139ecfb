import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { CrawlJob, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Exit, ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { BrowserPool, OpenContext } from '../browser/open-context.ts';
import type { CaptureFailure, CaptureFile, CaptureOutcome, CapturePage } from '../capture/session/capture-outcome.ts';
import { deniedHosts } from '../capture/stage/publisher-url.ts';
import type { NodeMetrics } from '../metrics.ts';
import type { AttemptStop } from './attempt-stop.ts';
import type { ExitsClient } from './exits-client.ts';

/** What one attempt gave. Without a capture there is a failure; with both, the capture is the evidence so far. */
export type Attempt =
  | { capture: Capture; files: CaptureFile[]; failure: CaptureFailure | null }
  | { capture: null; files: []; failure: CaptureFailure };

export type AttemptParts = {
  exits: ExitsClient;
  pool: BrowserPool;
  capturePage: CapturePage;
  metrics: NodeMetrics;
  /** The longest an attempt may take whatever its job allows, and how much longer a capture that was told to end may take to hand over its evidence. */
  attemptMs: number;
  evidenceMs: number;
};

const failed = (code: CaptureFailure['code'], cause: unknown): Attempt => ({
  capture: null,
  files: [],
  failure: { code, cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) },
});

/**
 * One attempt of a job's member: an exit, a context, the capture. When a browser that it shared ends under it or does not answer, whoever's
 * fault that is, it runs once more in a browser of its own, within the same time. Throws `AttemptStopped` when it was stopped for another reason than time.
 */
export async function makeAttempt(
  parts: AttemptParts,
  job: CrawlJob,
  member: JobMember,
  stop: AttemptStop,
  logger: Logger,
): Promise<Attempt> {
  try {
    const emulator = findEmulator(member.emulator_id);
    if (!emulator) return failed('internal: ERROR', `this node knows no emulator ${member.emulator_id}`);
    const run = { ...parts, job, member, emulator, isolated: job.isolation !== 'shared', stop, logger };
    const { attempt, browserFailed } = await throughExit(run);
    if (!attempt.failure || !browserFailed || run.isolated || stop.reason) return attempt;
    logger.info(
      { cause: attempt.failure.cause },
      'a browser ended under a capture or did not answer: the capture runs again in one of its own',
    );
    return (await throughExit({ ...run, isolated: true })).attempt;
  } catch (error) {
    if (stop.reason === 'deadline') return failed('browser: TIMEOUT', error);
    if (stop.reason) throw error;
    logger.error({ cause: error }, 'an attempt failed by our own fault');
    return failed('internal: ERROR', error);
  }
}

/** One run of an attempt; `isolated`: in a browser of its own. */
type Run = AttemptParts & {
  job: CrawlJob;
  member: JobMember;
  emulator: Emulator;
  isolated: boolean;
  stop: AttemptStop;
  logger: Logger;
};
/** What a run gave, and whether its browser ended before it did or failed to answer. */
type Ran = { attempt: Attempt; browserFailed: boolean };

const notRun = (attempt: Attempt): Ran => ({ attempt, browserFailed: false });

/** Each run has a ticket of its own, so that what the gateway carried for one is not taken for the other's; both leave by the same exit. */
async function throughExit(run: Run): Promise<Ran> {
  const { exits, metrics, job, member, stop } = run;
  const denied = deniedHosts(member.target, member.referrer);
  const answer = await exits.request(
    {
      targeting: member.targeting,
      session: job.exit_session,
      scan_id: member.scan_id,
      ttl_seconds: job.limits.ticket_seconds,
      bytes_max: job.limits.ticket_bytes,
      ...(denied.length > 0 && { deny_hosts: denied }),
    },
    stop.signal,
  );
  if ('unreachable' in answer) {
    metrics.exits.inc({ answer: 'unreachable' });
    return notRun(failed('proxy: UPSTREAM_FAILED', answer.cause));
  }
  if ('refusal' in answer) {
    metrics.exits.inc({ answer: answer.refusal });
    return notRun(failed(`proxy: ${answer.refusal}`, answer.cause));
  }
  metrics.exits.inc({ answer: 'granted' });
  try {
    return await inContext(run, answer.ticket);
  } finally {
    void exits.forget(answer.ticket.ticket_id);
  }
}

async function inContext(run: Run, ticket: ExitTicket): Promise<Ran> {
  const { pool, exits, capturePage, evidenceMs, job, member, emulator, isolated, stop, logger } = run;
  const opening = pool.open({ emulator, countryCode: member.targeting.country_code, ticket, isolated });
  let open: OpenContext;
  try {
    open = await stop.race(opening, (late) => void late.close());
  } catch (error) {
    if (stop.reason) throw error;
    return { attempt: failed('browser: CRASHED', error), browserFailed: true };
  }
  const traffic = () => exits.traffic(ticket.ticket_id);
  try {
    const capturing = capturePage({ ...member, limits: job.limits }, open, traffic, stop.signal, logger);
    const outcome = await captureUntilStopped(capturing, stop, evidenceMs);
    // Asked before the context is closed, which ends a browser that has no other.
    const browserFailed = open.browserEnded() || outcome.failure?.code === 'browser: TIMEOUT';
    await open.close();
    return { attempt: finish(outcome, ticket.exit, await traffic(), stop), browserFailed };
  } finally {
    // A node that drains gives the job back before it tidies up.
    const closed = open.close();
    if (stop.reason !== 'drain') await closed;
  }
}

/** The outcome. A capture stopped by its deadline may still hand over its evidence; one stopped otherwise is of no use to anybody. */
async function captureUntilStopped(
  capturing: Promise<CaptureOutcome>,
  stop: AttemptStop,
  evidenceMs: number,
): Promise<CaptureOutcome> {
  try {
    return await stop.race(capturing);
  } catch (error) {
    if (stop.reason !== 'deadline') throw error;
    return withDeadline(capturing, evidenceMs, 'the end of a capture');
  }
}

function finish(
  outcome: CaptureOutcome,
  exit: Exit,
  traffic: { bytes_sent: number; bytes_received: number } | null,
  stop: AttemptStop,
): Attempt {
  const capture = {
    ...outcome.capture,
    exit,
    traffic: traffic && { bytes_sent: traffic.bytes_sent, bytes_received: traffic.bytes_received },
  };
  const late = outcome.failure && stop.reason === 'deadline';
  const failure = late ? { code: 'browser: TIMEOUT' as const, cause: outcome.failure?.cause ?? '' } : outcome.failure;
  return { capture, files: outcome.files, failure };
}
