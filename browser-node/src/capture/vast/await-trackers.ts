import { underLoad } from '../session/budgets.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Player } from './player.ts';
import { hasEnded, requestsOfTrackers } from './requests-by-url.ts';

/** How long each tracker may take to answer. */
const ANSWERS_MS = 4_000;
const POLL_MS = 100;

/**
 * Waits until the requests of all trackers have ended that may still be answered, so that none counts as unanswered
 * while its response is under way. One that was requested long before, when the ad began, has had its time.
 */
export async function awaitTrackers(
  capture: Pick<MemberCapture, 'startedAt'>,
  { page, log, journal }: Pick<Player, 'page' | 'log' | 'journal'>,
): Promise<void> {
  const answerMs = underLoad(capture, ANSWERS_MS);
  const until = performance.now() + answerMs;
  const isUnderWay = () => {
    const since = performance.now() - capture.startedAt - answerMs;
    const requests = [...requestsOfTrackers(log.records, journal.all())];
    return requests.some(([tracker, entry]) => Number(tracker.requested_at_ms) > since && !(entry && hasEnded(entry)));
  };
  while (!page.isGone && performance.now() < until && isUnderWay()) await page.pause(POLL_MS);
}
