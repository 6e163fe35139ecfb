import { emptyCapture } from '@adsweep/shared/capture/capture.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { OpenContext } from '../browser/open-context.ts';
import { failureOfBrowser } from '../failures.ts';
import { aboutCapture, finishMember, seeMember } from './capture-member.ts';
import type { CaptureOutcome, CaptureRequest } from './session/capture-outcome.ts';
import { type ContextWatch, leaveSession, openSession, watchContext } from './session/capture-session.ts';
import { closeTabs } from './session/close-tabs.ts';
import { causeText } from './session/ending.ts';
import { targets } from './targets/index.ts';

/**
 * Captures one member in a session of its own. Every failure comes with the evidence so far; when `signal` ends the
 * capture, at once. The context stays open; its tabs are closed. Throws only for bugs.
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
  let watch: ContextWatch;
  await target.prepare?.(open);
  try {
    watch = await watchContext(open);
  } catch (error) {
    return unobserved(open, startedAtMs, error);
  }
  const session = openSession(watch, { limits: request.limits }, signal, logger);
  try {
    const seen = await seeMember(session, target, request);
    const leftAt = performance.now();
    const carried = await closeTabs(session, traffic);
    return await finishMember(seen, carried, leftAt);
  } finally {
    leaveSession(session);
    await watch.close();
  }
}

/** The capture if the browser was gone, or did not answer, before anything was opened in it. Throws other errors. */
export function unobserved(open: OpenContext, startedAtMs: number, error: unknown): CaptureOutcome {
  const code = failureOfBrowser(error);
  if (!code) throw error;
  return { ...unseen(open, startedAtMs), failure: { code, cause: causeText(error) } };
}

/** The outcome of a capture that saw nothing. */
export const unseen = (open: OpenContext, startedAtMs: number): CaptureOutcome => ({
  capture: emptyCapture(aboutCapture(open, startedAtMs, Math.max(0, Date.now() - startedAtMs))),
  files: [],
  failure: null,
});
