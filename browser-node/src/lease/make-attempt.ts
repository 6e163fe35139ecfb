import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { CrawlJob, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import { carried, inSpan } from '@adsweep/shared/tracing/spans.ts';
import type { CaptureFailure, CaptureFile, CaptureOutcome, CapturePage } from '../capture/session/capture-outcome.ts';
import { causeText } from '../capture/session/ending.ts';
import type { AttemptContext, AttemptContexts, ContextParts } from './attempt-contexts.ts';
import type { AttemptStop } from './attempt-stop.ts';
import { watchLoading } from './watch-loading.ts';

/** The result of one attempt. Without a capture there is a failure; with both, the capture is the evidence so far. */
export type Attempt =
  | { capture: Capture; files: CaptureFile[]; failure: CaptureFailure | null }
  | { capture: null; files: []; failure: CaptureFailure };

export type AttemptParts = ContextParts & {
  capturePage: CapturePage;
  /** Maximum duration of an attempt, also if its job allows more. */
  attemptMs: number;
  /** How much longer a capture may take to return its evidence after its attempt has timed out. */
  evidenceMs: number;
};

/** What an attempt needs to know of its lease: how to report that its target was requested. */
export type ReportLoaded = { reportLoaded: () => Promise<void> };

const failed = (code: CaptureFailure['code'], cause: unknown): Attempt => ({
  capture: null,
  files: [],
  failure: { code, cause: causeText(cause) },
});

/**
 * One attempt of a job's member: an exit, a context, the capture. If a shared browser ends during the attempt, does not
 * respond or is left to others, the attempt runs once more in a browser of its own, within the same time; so does one
 * whose requests did not all reach the gateway, and what it has is kept if that fails. Throws `AttemptStopped` if it is
 * stopped for any reason but time.
 */
export async function makeAttempt(
  parts: AttemptParts & ReportLoaded,
  job: CrawlJob,
  member: JobMember,
  contexts: AttemptContexts,
  stop: AttemptStop,
  logger: Logger,
): Promise<Attempt> {
  let kept: Attempt | null = null;
  try {
    const emulator = findEmulator(member.emulator_id);
    if (!emulator) return failed('internal: ERROR', `this node knows no emulator ${member.emulator_id}`);
    const isolated = job.isolation !== 'shared';
    const run = { ...parts, job, member, emulator, isolated, goesLast: false, contexts, stop, logger };
    const { attempt, browserFailed, hasLeftShared } = await throughExit(run);
    if (!attempt.failure) kept = attempt;
    const isCut = lacksRequests(attempt);
    const isEnded = attempt.failure !== null && browserFailed && !isolated;
    if ((!isCut && !isEnded) || stop.reason) return attempt;
    logger.info({ cause: attempt.failure?.cause }, isCut ? GATEWAY_MISSED : BROWSER_FAILED);
    const { attempt: second } = await throughExit({ ...run, isolated: isolated || isEnded, goesLast: hasLeftShared });
    return second.failure ? (kept ?? second) : second;
  } catch (error) {
    if (stop.reason === 'deadline') return kept ?? failed('browser: TIMEOUT', error);
    if (stop.reason) throw error;
    logger.error({ cause: error }, 'an attempt failed with an internal error');
    return kept ?? failed('internal: ERROR', error);
  }
}

const BROWSER_FAILED =
  'a browser ended during a capture, did not respond or was left to others: the capture runs again in one of its own';
const GATEWAY_MISSED = 'the gateway was away during a capture, which runs again';

/**
 * Whether requests of the capture did not reach the gateway, as while the proxy-router starts again. One that was
 * killed has cut connections that were open: a capture that failed, and whose traffic it does not report, may have
 * failed for that.
 */
const lacksRequests = ({ capture, failure }: Attempt): boolean =>
  capture !== null &&
  (capture.notes.some(({ kind }) => kind === 'gateway') || (failure !== null && capture.traffic === null));

/** One run of an attempt; `isolated`: in a browser of its own; `goesLast`: with the lowest priority. */
type Run = AttemptParts &
  ReportLoaded & {
    job: CrawlJob;
    member: JobMember;
    emulator: Emulator;
    isolated: boolean;
    goesLast: boolean;
    contexts: AttemptContexts;
    stop: AttemptStop;
    logger: Logger;
  };
/** The result of a run, whether its browser ended or did not respond, and whether it was left to others. */
type Ran = { attempt: Attempt; browserFailed: boolean; hasLeftShared: boolean };

/**
 * Each run of a job with one member has a ticket of its own, so that the traffic of one run is not attributed to
 * another.
 */
async function throughExit(run: Run): Promise<Ran> {
  const context = await run.contexts.open(run, run.stop);
  if ('open' in context) return inContext(run, context);
  const browserFailed = context.code === 'browser: CRASHED';
  return { attempt: failed(context.code, context.cause), browserFailed, hasLeftShared: false };
}

async function inContext(run: Run, context: AttemptContext): Promise<Ran> {
  const { capturePage, evidenceMs, contexts, job, member, stop, logger } = run;
  const { open, ticket, traffic } = context;
  let isFit = false;
  const endWatch = watchLoading({ traffic, report: run.reportLoaded }, logger);
  try {
    const capturing = inSpan('capture', member.traceparent, {}, (span) =>
      capturePage({ ...member, limits: job.limits, ...carried(span.traceparent) }, open, traffic, stop.signal, logger),
    );
    const outcome = await captureUntilStopped(capturing, stop, evidenceMs);
    // Checked before the context is closed, which ends a browser without other contexts.
    const browserFailed = open.browserEnded() || outcome.failure?.code === 'browser: TIMEOUT';
    if (!contexts.isShared) await open.close();
    const attempt = finish(outcome, ticket.exit, await traffic(), stop);
    isFit = !browserFailed && stop.reason === null && !lacksRequests(attempt);
    return { attempt, browserFailed, hasLeftShared: open.hasLeftShared() };
  } finally {
    endWatch();
    await contexts.release(context, isFit, stop);
  }
}

/**
 * The outcome. A capture that was stopped by its deadline may still return its evidence; one stopped otherwise is
 * discarded.
 */
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
