import { setTimeout as pause } from 'node:timers/promises';
import { note } from '@adsweep/shared/capture/notes.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { LEAVE_MAX_MS, LEAVE_QUIET_MS, TRAFFIC_MS, UNLOAD_MS, underLoad } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import { isShown, type OpenTab } from './open-tabs.ts';

/**
 * The quiet time required, in round trips: on a busy machine everything takes longer, so a pause must be longer too.
 */
const ROUND_TRIPS = 4;
const CHECK_AT_LEAST_MS = 50;

/** How long their last beacons are waited for; `isQuiet`: nothing else of the context uses the network meanwhile. */
type Leaving = { maxMs: number; isQuiet: boolean };
const LEAVE_ALL: Leaving = { maxMs: LEAVE_MAX_MS, isQuiet: true };

/**
 * Closes the tabs, which makes them send their last beacons, and waits until these have reached the gateway. Returns
 * the traffic that the gateway reports, or null if it reports none.
 */
export async function closeTabs(
  captureSession: CaptureSession,
  traffic: () => Promise<TicketTraffic | null>,
  leaving = LEAVE_ALL,
): Promise<TicketTraffic | null> {
  // Intercepted requests are lost with the tab that made them. A tab that spins does not answer to it.
  const unrouting = captureSession.open.context.unrouteAll({ behavior: 'ignoreErrors' });
  const unrouted = withDeadline(unrouting, underLoad(captureSession, UNLOAD_MS), 'the end of interception');
  await captureSession.ending.race(unrouted.catch(() => undefined));
  const maxMs = underLoad(captureSession, leaving.maxMs);
  const until = performance.now() + maxMs;
  await captureSession.ending.race(
    Promise.all(captureSession.tabs.all.filter(isShown).map((tab) => unload(captureSession, tab))),
  );
  const closing = Promise.all(captureSession.tabs.all.map(({ page }) => page.close().catch(() => undefined)));
  await captureSession.ending.race(
    withDeadline(closing, until - performance.now(), 'the end of the tabs').catch(() => []),
  );
  const closedAt = performance.now();
  // It cannot be quiet sooner than this.
  let restInMs = LEAVE_QUIET_MS;
  while (true) {
    await captureSession.ending.race(pause(Math.max(restInMs, CHECK_AT_LEAST_MS)));
    const askedAt = performance.now();
    await networkAnswers(captureSession);
    const carried = await askGateway(captureSession, traffic);
    const now = performance.now();
    if (!carried || captureSession.ending.failure) return carried;
    restInMs = quietIn(carried, { sinceClosedMs: askedAt - closedAt, roundTripMs: now - askedAt });
    if (restInMs === 0) return carried;
    if (now >= until) {
      if (leaving.isQuiet) captureSession.notes.push(note('late_requests', { count: Math.round(maxMs / 1_000) }));
      return carried;
    }
  }
}

/** The earliest time, in ms from now, at which all requests of the tabs can have passed; 0: they have. Pure. */
export function quietIn(
  { quiet_ms, connecting_streams }: Pick<TicketTraffic, 'quiet_ms' | 'connecting_streams'>,
  { sinceClosedMs, roundTripMs }: { sinceClosedMs: number; roundTripMs: number },
): number {
  const needed = Math.max(LEAVE_QUIET_MS, ROUND_TRIPS * roundTripMs);
  const lacking = Math.max(0, needed - Math.min(quiet_ms, sinceClosedMs));
  return connecting_streams > 0 ? Math.max(lacking, CHECK_AT_LEAST_MS) : lacking;
}

/**
 * Chromium gives a tab that is closed half a second for its unload handlers; a document that navigates away has as long
 * as it needs. Waits for the next document to load: Chromium ignores a request to close a tab while a document is
 * loading.
 */
async function unload(captureSession: CaptureSession, { page, tab: { session } }: OpenTab): Promise<void> {
  const timeout = underLoad(captureSession, UNLOAD_MS);
  const left = page.waitForNavigation({ url: 'about:blank', waitUntil: 'load', timeout });
  const leaving = evaluateInIsolatedWorld(session, session.targetId, leaveDocument, null, timeout);
  // A tab that does not unload is closed nevertheless.
  await Promise.all([left, leaving]).catch(() => undefined);
}

/**
 * Resolves when the browser's network service has answered, which means that it has accepted all earlier requests of
 * the tabs.
 */
async function networkAnswers({ open, ending }: CaptureSession): Promise<void> {
  await ending.race(withDeadline(open.context.cookies(), TRAFFIC_MS, 'the network service').catch(() => []));
}

async function askGateway(
  captureSession: CaptureSession,
  traffic: () => Promise<TicketTraffic | null>,
): Promise<TicketTraffic | null> {
  try {
    return await captureSession.ending.race(withDeadline(traffic(), TRAFFIC_MS, 'the gateway'));
  } catch (cause) {
    captureSession.logger.warn({ cause }, 'the gateway did not report the traffic');
    captureSession.notes.push(note('traffic'));
    return null;
  }
}

/**
 * Runs in the page, in an isolated world: navigates away from the document, whose unload handlers then run without a
 * time limit.
 */
function leaveDocument(): void {
  location.replace('about:blank');
}
