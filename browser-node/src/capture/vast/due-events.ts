import type { CapturedTracker } from '@adsweep/shared/capture/vast.ts';
import { parseOffset } from '@adsweep/shared/vast/clock.ts';

/** The playhead and the duration of a video, in ms. */
export type Playhead = { ms: number; durationMs: number; ended: boolean };

/** The share of the video after which each is due (VAST 4.3, 3.14.1). */
const SHARES: Record<string, number> = {
  loaded: 0,
  start: 0,
  creativeView: 0,
  firstQuartile: 0.25,
  midpoint: 0.5,
  thirdQuartile: 0.75,
};
/** Due at an offset of their own; the second is VAST 4.0's. */
const WITH_OFFSET = new Set(['progress', 'timeSpentViewing']);

/** Whether a tracker of a linear ad is due at this point of its video; trackers of a viewer's actions never are. Pure. */
export function isDueAt(
  { part, event, offset }: Pick<CapturedTracker, 'part' | 'event' | 'offset'>,
  at: Playhead,
): boolean {
  const isReached = (ms: number) => ms <= at.durationMs && (at.ended || at.ms >= ms);
  if (part !== 'linear') return false;
  if (event === 'complete') return at.ended;
  const share = SHARES[event];
  if (share !== undefined) return share === 0 || isReached(at.durationMs * share);
  const due = WITH_OFFSET.has(event) && offset !== null ? parseOffset(offset, at.durationMs) : null;
  return due !== null && isReached(due);
}

/** Milliseconds of wall-clock time that a video is played as it is, and those that the rest of it may take. */
const REAL_TIME_MS = 15_000;
const REST_MS = 5_000;
const RATE_MAX = 16;

/**
 * How fast to play from here on: as it is for the first 15 s, which is where impressions, views and most quartiles are told; what is left
 * then in some seconds more, at most 16 times as fast, which is what Chromium can. Pure.
 */
export function rateAt({ ms, durationMs }: Playhead, realTimeMs = REAL_TIME_MS): number {
  if (ms < realTimeMs || durationMs <= realTimeMs + REST_MS) return 1;
  return Math.min(RATE_MAX, Math.max(1, (durationMs - realTimeMs) / REST_MS));
}
