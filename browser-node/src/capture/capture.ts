import type { Capture, CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import { emptyCapture } from '@adsweep/shared/capture/capture.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { OpenContext } from '../browser/open-context.ts';
import { failureOfBrowser, failureOfVisit } from '../failures.ts';
import type { Collect, Collector, Draft } from './collectors/collector.ts';
import { fitCapture } from './fit-capture.ts';
import { COLLECT_MS, OBSERVATIONS_MAX, underLoad } from './session/budgets.ts';
import type { CaptureFailure, CaptureOutcome, CaptureRequest } from './session/capture-outcome.ts';
import { type CaptureSession, leaveContext, openCaptureSession } from './session/capture-session.ts';
import { closeTabs } from './session/close-tabs.ts';
import { causeText } from './session/ending.ts';
import { stopBusyScripts } from './session/stop-busy-scripts.ts';
import { targets } from './targets/index.ts';
import type { CaptureTarget, Visit } from './targets/target.ts';

/**
 * Captures one target. Every failure comes with the evidence so far; when `signal` ends the capture, at once.
 * The context stays open; its tabs are closed. Throws only for bugs.
 */
export async function capturePage(
  request: CaptureRequest,
  open: OpenContext,
  traffic: () => Promise<TicketTraffic | null>,
  signal: AbortSignal,
  logger: Logger,
): Promise<CaptureOutcome> {
  const startedAtMs = Date.now();
  const target = targets[request.target.kind];
  if (!target) throw new Error(`no target of kind ${request.target.kind} can be captured`);
  let captureSession: CaptureSession;
  await target.prepare?.(open);
  try {
    captureSession = await openCaptureSession(open, request.limits, target, signal, logger);
  } catch (error) {
    return unobserved(open, startedAtMs, error);
  }
  try {
    const { visit, seenOpen, seenAfterwards } = await seeTarget(captureSession, target, request);
    await captureSession.ending.race(stopBusyScripts(captureSession));
    const draft = newDraft(captureSession);
    await collectAll(captureSession, seenOpen, draft);
    const leftAt = performance.now();
    draft.traffic = await closeTabs(captureSession, traffic);
    await collectAll(captureSession, seenAfterwards, draft);
    return {
      capture: asCapture(captureSession, draft, request.limits.capture_bytes),
      files: [...draft.files],
      failure: withCrashReason(open, failureOf(captureSession, visit, draft.traffic, leftAt)),
    };
  } finally {
    await leaveContext(captureSession);
  }
}

type Seen = { visit: Visit; seenOpen: Started[]; seenAfterwards: Started[] };

/** Starts the collectors and loads the target. If the browser is gone or does not answer, the visit has failed. */
async function seeTarget(
  captureSession: CaptureSession,
  target: CaptureTarget,
  request: CaptureRequest,
): Promise<Seen> {
  const seen: Seen = { visit: { error: '', failure: null }, seenOpen: [], seenAfterwards: [] };
  try {
    seen.seenOpen = await startAll(captureSession, target.collectors.whileOpen);
    seen.seenAfterwards = await startAll(captureSession, target.collectors.afterwards);
    await captureSession.reports.start();
    seen.visit = await target.visit(captureSession, request);
  } catch (error) {
    const code = failureOfBrowser(error);
    if (!code && !captureSession.ending.failure) throw error;
    if (code) captureSession.ending.end(code, error);
  }
  return seen;
}

/** The last collectors get at least this much time, even if the others used all of it. */
const COLLECTOR_AT_LEAST_MS = 1_000;

type Started = Pick<Collector, 'name' | 'budgetMs'> & { collect: Collect };

async function startAll(captureSession: CaptureSession, collectors: Collector[]): Promise<Started[]> {
  return Promise.all(
    collectors.map(async (collector) => ({ ...collector, collect: await collector.start(captureSession) })),
  );
}

/** Runs collectors one after the other, within one budget for all. A collector that fails leaves its part empty and a note. */
async function collectAll(captureSession: CaptureSession, collectors: Started[], draft: Draft): Promise<void> {
  const until = performance.now() + COLLECT_MS;
  for (const { name, budgetMs, collect } of collectors) {
    const leftMs = Math.max(until - performance.now(), COLLECTOR_AT_LEAST_MS);
    const deadlineMs = Math.min(underLoad(captureSession, budgetMs), leftMs);
    try {
      const work = withDeadline(Promise.resolve(draft).then(collect), deadlineMs, `collecting ${name}`);
      await captureSession.ending.race(work);
    } catch (cause) {
      captureSession.logger.info({ cause, collector: name }, 'a collector failed');
      captureSession.notes.push({ collector: name, text: String(cause).slice(0, 500) });
    }
  }
}

function newDraft({ landings, creative, startedAt }: CaptureSession): Draft {
  const at = (moment: number) => Math.max(0, Math.round(moment));
  const captured = landings.all.map(
    ({ ord, tab }): CapturedLanding => ({
      ord,
      opener_url: tab.openerUrl,
      final_url: tab.committed ? tab.url : '',
      page_title: '',
      site_name: '',
      redirect_chain: [],
      screenshot: null,
      opened_at_ms: at(tab.openedAt - startedAt),
      elapsed_ms: at(performance.now() - tab.openedAt),
    }),
  );
  const seen = creative && { ...creative.facts, redirect_chain: [] };
  const files = [...(creative?.files ?? [])];
  const nothing = { vast: null, requests: [], observations: [], bodies: [], traffic: null };
  return { ...nothing, landings: captured, creative: seen, files };
}

/** `leftAt`: monotonic time at which the tabs were left. */
function failureOf(
  captureSession: CaptureSession,
  visit: Visit,
  traffic: TicketTraffic | null,
  leftAt: number,
): CaptureFailure | null {
  const known = visit.failure ?? captureSession.ending.failure;
  if (known) return known;
  const subject = captureSession.subject();
  const hop = visit.document ?? (subject && captureSession.journal.hopsOf(subject.tab.session.targetId).at(-1));
  const silentMs = hop && !hop.isWhole && hop.receivedAt > 0 ? leftAt - hop.receivedAt : 0;
  const code = failureOfVisit(visit.error, hop ? { ...hop, silentMs } : null, traffic);
  return code && { code, cause: visit.error || `${hop?.url} ended with ${hop?.fault || hop?.statusCode}` };
}

/** A crash with its reason, if that is memory. */
function withCrashReason(open: OpenContext, failure: CaptureFailure | null): CaptureFailure | null {
  if (failure?.code !== 'browser: CRASHED' || !open.crashedForMemory()) return failure;
  return { code: 'browser: OUT_OF_MEMORY', cause: `${failure.cause}: its renderer held too much memory` };
}

/** The capture if the browser was gone, or did not answer, before anything was opened in it. */
function unobserved(open: OpenContext, startedAtMs: number, error: unknown): CaptureOutcome {
  const code = failureOfBrowser(error);
  if (!code) throw error;
  const capture = emptyCapture(aboutCapture(open, startedAtMs, Date.now() - startedAtMs));
  return { capture, files: [], failure: { code, cause: causeText(error) } };
}

const aboutCapture = ({ browserName, browserVersion }: OpenContext, startedAtMs: number, elapsed_ms: number) => ({
  started_at: new Date(startedAtMs).toISOString(),
  elapsed_ms,
  browser: { name: browserName, version: browserVersion },
});

function asCapture({ open, startedAtMs, startedAt, notes }: CaptureSession, draft: Draft, bytesMax: number): Capture {
  const capture = {
    ...emptyCapture(aboutCapture(open, startedAtMs, Math.round(performance.now() - startedAt))),
    landings: [...draft.landings],
    ...(draft.creative && { creative: draft.creative }),
    ...(draft.vast && { vast: draft.vast }),
    requests: draft.requests,
    observations: draft.observations.slice(0, OBSERVATIONS_MAX),
    notes: notes.slice(0, OBSERVATIONS_MAX),
  };
  return fitCapture(capture, bytesMax);
}
