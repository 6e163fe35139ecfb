import { underLoad } from '../session/budgets.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Player } from './player.ts';
import { hasEnded, requestsOfTrackers } from './requests-by-url.ts';

/** How long the last trackers may take to answer. */
const ANSWERS_MS = 4_000;
const POLL_MS = 100;

/** Waits until the requests of all trackers have ended, so that none counts as unanswered while its response is under way. */
export async function awaitTrackers(
  capture: Pick<MemberCapture, 'startedAt'>,
  { page, log, journal }: Pick<Player, 'page' | 'log' | 'journal'>,
): Promise<void> {
  const until = performance.now() + underLoad(capture, ANSWERS_MS);
  const isUnderWay = () =>
    [...requestsOfTrackers(log.records, journal.all()).values()].some((entry) => !entry || !hasEnded(entry));
  while (!page.isGone && performance.now() < until && isUnderWay()) await page.pause(POLL_MS);
}
