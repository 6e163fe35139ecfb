import { BODIES, type CapturedBody, DOCUMENTS } from '@adsweep/shared/capture/artifacts.ts';
import { type Capture, type CapturedLanding, emptyCapture } from '@adsweep/shared/capture/capture.ts';
import { type CollectorName, combineNotes, note } from '@adsweep/shared/capture/notes.ts';
import { scannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { inSpan } from '@adsweep/shared/tracing/spans.ts';
import type { OpenContext } from '../browser/open-context.ts';
import { failureOfVisit } from '../failures.ts';
import type { Collect, Draft, FetchedBody } from './collectors/collector.ts';
import { combineObservations } from './collectors/framed-observations.ts';
import { type Collecting, collectorsOf } from './collectors/index.ts';
import { fitCapture } from './fit-capture.ts';
import { watchLandings } from './note-missing.ts';
import { scrollFirstLanding } from './scroll-landing.ts';
import { COLLECT_MS, OBSERVATIONS_MAX, underLoad } from './session/budgets.ts';
import { stopBusyScripts } from './session/busy-scripts.ts';
import { type CaptureFailure, type CaptureOutcome, type CaptureRequest, jsonFile } from './session/capture-outcome.ts';
import { type CaptureSession, type MemberCapture, openTab } from './session/capture-session.ts';
import { isLoad } from './session/journal-entry.ts';
import { Landings } from './session/landings.ts';
import { stopMessageFloods } from './session/message-floods.ts';
import { Visit } from './session/visit.ts';
import type { CaptureTarget, Visited } from './targets/target.ts';

/** A member whose target was visited, while its tabs are open. */
export type SeenMember = {
  capture: MemberCapture;
  request: CaptureRequest;
  visited: Visited;
  draft: Draft;
  afterwards: Started[];
};

/** A collector that was started. */
type Started = { name: CollectorName; budgetMs: number; collect: Collect };

/**
 * Visits the target of one member in a session and collects what is collected while the tabs are open. If the browser
 * fails, the session ends with that, and what was found before is kept.
 */
export async function seeMember(
  session: CaptureSession,
  target: CaptureTarget,
  request: CaptureRequest,
): Promise<SeenMember> {
  const publisherUrl = target.publisherUrl?.(request) ?? '';
  const own = { ...session, visit: new Visit(), publisherUrl };
  return seeVisit(own, request, (capture) => visitTarget(capture, target, request));
}

/** The same for any visit: `visitWith` makes it, once the collectors have started. */
export async function seeVisit(
  session: Omit<MemberCapture, 'landings'>,
  request: CaptureRequest,
  visitWith: (capture: MemberCapture) => Promise<Visited>,
): Promise<SeenMember> {
  const kind = scannedKind(request);
  const isSwept = request.discovery !== undefined;
  const capture = { ...session, landings: new Landings(session.tabs), isSwept };
  stopMessageFloods(capture);
  const collectors = collectorsOf(kind, isSwept);
  const whileOpen = await startAll(capture, collectors.whileOpen);
  const afterwards = await startAll(capture, collectors.afterwards);
  const visiting = inSpan('navigation', request.traceparent, {}, () => visitWith(capture));
  const visited = (await session.ending.contain(visiting)) ?? NOTHING;
  await session.ending.race(stopBusyScripts(session));
  await session.ending.race(scrollFirstLanding(capture));
  capture.tabs.keepPresent();
  capture.landings.fixOrdinals();
  const draft = newDraft(capture, visited);
  const noteMissing = watchLandings(capture, visited, kind === 'url');
  await collectAll(capture, whileOpen, draft, visited);
  session.notes.push(...noteMissing(draft));
  return { capture, request, visited, draft, afterwards };
}

const NOTHING: Visited = { error: '', failure: null };

async function visitTarget(capture: MemberCapture, target: CaptureTarget, request: CaptureRequest): Promise<Visited> {
  const refusal = target.refusal(request);
  if (refusal) return { ...NOTHING, failure: refusal };
  const tab = await openTab(capture);
  return tab ? target.visit(capture, tab, request) : NOTHING;
}

/**
 * Collects what is collected once the tabs are closed, and returns the capture of a member. `traffic`: what the gateway
 * carried; `leftAt`: when the tabs were left, by `performance.now()`.
 */
export async function finishMember(
  { capture, request, visited, draft, afterwards }: SeenMember,
  traffic: TicketTraffic | null,
  leftAt: number,
): Promise<CaptureOutcome> {
  draft.traffic = traffic;
  await collectAll(capture, afterwards, draft, visited);
  const captured = asCapture(capture, draft, request.limits.capture_bytes);
  const { files, bodies, documents } = draft;
  if (bodies.length > 0) files.push(await jsonFile(BODIES, bodies.map(bodyOf)));
  if (documents.length > 0) files.push(await jsonFile(DOCUMENTS, documents));
  return {
    capture: captured,
    files,
    failure: withCrashReason(capture.open, failureOf(capture, visited, traffic, leftAt)),
  };
}

const bodyOf = ({ body }: FetchedBody): CapturedBody => body;

async function startAll(capture: MemberCapture, collectors: Collecting[]): Promise<Started[]> {
  return Promise.all(
    collectors.map(async ({ collector, budgetMs }) => {
      return { name: collector.name, budgetMs, collect: await collector.start(capture) };
    }),
  );
}

/** The last collectors get at least this much time, even if the others used all of it. */
const COLLECTOR_AT_LEAST_MS = 1_000;

/**
 * Runs collectors one after the other, within one budget for all. A collector that fails leaves its part empty and a
 * note.
 */
async function collectAll(
  capture: MemberCapture,
  collectors: Started[],
  draft: Draft,
  visited: Visited,
): Promise<void> {
  const until = performance.now() + COLLECT_MS;
  for (const { name, budgetMs, collect } of collectors) {
    const leftMs = Math.max(until - performance.now(), COLLECTOR_AT_LEAST_MS);
    const deadlineMs = Math.min(underLoad(capture, budgetMs), leftMs);
    try {
      const collecting = Promise.resolve(draft).then((own) => collect(own, visited, deadlineMs));
      await capture.ending.race(withDeadline(collecting, deadlineMs, `collecting ${name}`));
    } catch (cause) {
      capture.logger.info({ cause, collector: name }, 'a collector failed');
      const kind = cause instanceof DeadlineError ? 'collector_timed_out' : 'collector_failed';
      capture.notes.push(note(kind, { collector: name }));
    }
  }
}

function newDraft({ landings, startedAt }: MemberCapture, { creative }: Visited): Draft {
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
  const seen = creative ? { ...creative.facts, redirect_chain: [] } : null;
  const files = [...(creative?.files ?? [])];
  const nothing = {
    vast: null,
    requests: [],
    observations: [],
    documents: [],
    bodies: [],
    frameBytes: new Map(),
    traffic: null,
  };
  return { ...nothing, landings: captured, creative: seen, files };
}

function failureOf(
  { ending, journal, open, startedAt }: MemberCapture,
  visited: Visited,
  traffic: TicketTraffic | null,
  leftAt: number,
): CaptureFailure | null {
  const known = visited.failure ?? ending.failure;
  if (known) return known;
  const { subject, error } = visited;
  const hop = visited.document ?? (subject && journal.hopsOf(subject.tab.session.targetId).findLast(isLoad));
  const silentMs = hop && !hop.isWhole && hop.receivedAt > 0 ? leftAt - hop.receivedAt : 0;
  const code = failureOfVisit(error, hop ? { ...hop, silentMs } : null, traffic, open.congestedMs(startedAt));
  return code && { code, cause: error || `${hop?.url} ended with ${hop?.fault || hop?.statusCode}` };
}

/** A crash with its reason, if that is memory. */
function withCrashReason(open: OpenContext, failure: CaptureFailure | null): CaptureFailure | null {
  if (failure?.code !== 'browser: CRASHED' || !open.crashedForMemory()) return failure;
  return { code: 'browser: OUT_OF_MEMORY', cause: `${failure.cause}: its renderer held too much memory` };
}

function asCapture({ open, startedAtMs, startedAt, notes }: CaptureSession, draft: Draft, bytesMax: number): Capture {
  const observations = combineObservations(draft.observations);
  const left = observations.length - OBSERVATIONS_MAX;
  const capture = {
    ...emptyCapture(aboutCapture(open, startedAtMs, Math.round(performance.now() - startedAt))),
    landings: [...draft.landings],
    ...(draft.creative && { creative: draft.creative }),
    ...(draft.vast && { vast: draft.vast }),
    requests: draft.requests,
    observations: observations.slice(0, OBSERVATIONS_MAX),
    notes: combineNotes([...notes, ...(left > 0 ? [note('observations', { count: left })] : [])]),
  };
  return fitCapture(capture, bytesMax);
}

/** When a capture began (Unix time in ms), how long it took in ms, and with which browser. */
export const aboutCapture = (
  { browserName, browserVersion }: OpenContext,
  startedAtMs: number,
  elapsed_ms: number,
) => ({
  started_at: new Date(startedAtMs).toISOString(),
  elapsed_ms,
  browser: { name: browserName, version: browserVersion },
});
