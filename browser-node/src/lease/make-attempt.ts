import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { CrawlJob } from '@adsweep/shared/lease/crawl-job.ts';
import { type Emulator, findEmulator } from '@adsweep/shared/scan/emulators.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Exit, ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { BrowserPool, OpenContext } from '../browser/open-context.ts';
import type { CaptureFailure, CaptureFile, CaptureOutcome, CapturePage } from '../capture/capture-outcome.ts';
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
  /** The longest an attempt may take, and how much longer a capture that was told to end may take to hand over its evidence. */
  attemptMs: number;
  evidenceMs: number;
};

/** A ticket outlives the attempt by this much. */
const TICKET_SPARE_SECONDS = 60;

const failed = (code: CaptureFailure['code'], cause: unknown): Attempt => ({
  capture: null,
  files: [],
  failure: { code, cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) },
});

/** One attempt of a job: an exit, a context, the capture. Throws `AttemptStopped` when it was stopped for another reason than time. */
export async function makeAttempt(
  parts: AttemptParts,
  job: CrawlJob,
  stop: AttemptStop,
  logger: Logger,
): Promise<Attempt> {
  try {
    const emulator = findEmulator(job.emulator_id);
    if (!emulator) return failed('internal: ERROR', `this node knows no emulator ${job.emulator_id}`);
    return await throughExit(parts, job, emulator, stop, logger);
  } catch (error) {
    if (stop.reason === 'deadline') return failed('browser: TIMEOUT', error);
    if (stop.reason) throw error;
    logger.error({ cause: error }, 'an attempt failed by our own fault');
    return failed('internal: ERROR', error);
  }
}

async function throughExit(
  parts: AttemptParts,
  job: CrawlJob,
  emulator: Emulator,
  stop: AttemptStop,
  logger: Logger,
): Promise<Attempt> {
  const answer = await parts.exits.request(
    {
      targeting: job.targeting,
      session: job.exit_session,
      scan_id: job.scan_id,
      ttl_seconds: Math.ceil(parts.attemptMs / 1000) + TICKET_SPARE_SECONDS,
    },
    stop.signal,
  );
  if ('unreachable' in answer) {
    parts.metrics.exits.inc({ answer: 'unreachable' });
    return failed('proxy: UPSTREAM_FAILED', answer.cause);
  }
  if ('refusal' in answer) {
    parts.metrics.exits.inc({ answer: answer.refusal });
    return failed(`proxy: ${answer.refusal}`, answer.cause);
  }
  parts.metrics.exits.inc({ answer: 'granted' });
  try {
    return await inContext(parts, job, emulator, answer.ticket, stop, logger);
  } finally {
    void parts.exits.forget(answer.ticket.ticket_id);
  }
}

async function inContext(
  { pool, exits, capturePage, evidenceMs }: AttemptParts,
  job: CrawlJob,
  emulator: Emulator,
  ticket: ExitTicket,
  stop: AttemptStop,
  logger: Logger,
): Promise<Attempt> {
  const opening = pool.open({
    emulator,
    countryCode: job.targeting.country_code,
    ticket,
    isolated: job.isolation !== 'shared',
  });
  let open: OpenContext;
  try {
    open = await stop.race(opening, (late) => void late.close());
  } catch (error) {
    if (stop.reason) throw error;
    return failed('browser: CRASHED', error);
  }
  const traffic = () => exits.traffic(ticket.ticket_id);
  try {
    const outcome = await captureUntilStopped(capturePage(job, open, traffic, stop.signal, logger), stop, evidenceMs);
    await open.close();
    return finish(outcome, ticket.exit, await traffic(), stop);
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
