import type { VastDisplay, VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { isAbout } from './declared-trackers.ts';
import type { Player } from './player.ts';
import type { Logged, Moment } from './tracker-log.ts';

/** What of an ad is clicked, and where its click leads, '' = nowhere. */
type Clicked = { part: 'linear' | 'nonlinear'; form: VastLinear | VastDisplay; url: string };

/** What a click on the player does: its trackers, its page, and what opened; a script handles its own clicks. */
export async function clickAd(
  { log, click, size }: Player,
  ad: number,
  { part, form, url }: Clicked,
  when: Moment = {},
): Promise<void> {
  if (url === '') return;
  const moment = { ...when, click: { x: Math.round(size.width / 2), y: Math.round(size.height / 2) } };
  const isDue = (tracker: Logged) =>
    tracker.part === part && tracker.event === 'clickTracking' && isAbout(tracker, form);
  const trackers = log.prepare(ad, isDue, moment);
  await click(log.fill(ad, url, moment), trackers);
}
