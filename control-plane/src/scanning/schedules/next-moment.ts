import { DAY_MS, HOUR_MS } from '@adsweep/shared/durations.ts';
import { offsetAt } from '../../http/calendar-days.ts';

/**
 * When a campaign runs by itself. `weekly`: hours by day, `0` (Monday) to `6`; `anchor`: when the interval began to
 * count.
 */
export type SchedulePlan =
  | { type: 'weekly'; weekly: Record<string, number[]>; timezone: string }
  | { type: 'interval'; seconds: number; anchor: Date };

/** The days in which the next hour of a week is found, also if a clock change skips one of them. */
const DAYS_AHEAD = 9;
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 3;

/** The first moment of a plan after `after`. A weekly plan has at least one hour. */
export function nextMoment(plan: SchedulePlan, after: Date): Date {
  if (plan.type === 'weekly') return nextHour(plan.weekly, plan.timezone, after.getTime());
  const [anchor, interval] = [plan.anchor.getTime(), plan.seconds * 1_000];
  const passed = Math.floor((after.getTime() - anchor) / interval);
  return new Date(anchor + Math.max(1, passed + 1) * interval);
}

/**
 * Local times are written as the UTC time that has the same digits. A later local time is never reached before an
 * earlier one.
 */
function nextHour(weekly: Record<string, number[]>, timezone: string, after: number): Date {
  const local = after + offsetAt(after, timezone);
  const today = Math.floor(local / DAY_MS);
  for (let day = today; day <= today + DAYS_AHEAD; day += 1) {
    const hours = weekly[String((day + FIRST_WEEKDAY) % 7)] ?? [];
    for (const hour of hours.toSorted((a, b) => a - b)) {
      const shown = day * DAY_MS + hour * HOUR_MS;
      if (shown < local) continue;
      const moment = firstMomentOf(shown, timezone);
      if (moment > after) return new Date(moment);
    }
  }
  throw new Error('a weekly schedule has no hours');
}

/**
 * The moment at which the clocks of a timezone first show a local time. If a clock change skips it, the first moment
 * after the change; if one repeats it, the first pass.
 */
function firstMomentOf(local: number, timezone: string): number {
  const [start, end] = [local - DAY_MS, local + DAY_MS];
  const [before, afterwards] = [offsetAt(start, timezone), offsetAt(end, timezone)];
  if (offsetAt(local - before, timezone) === before) return local - before;
  if (offsetAt(local - afterwards, timezone) === afterwards) return local - afterwards;
  return changeBetween(start, end, timezone);
}

/** The first moment of the new offset, of a clock change between two moments. */
function changeBetween(start: number, end: number, timezone: string): number {
  const before = offsetAt(start, timezone);
  let [low, high] = [start, end];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle, timezone) === before) low = middle;
    else high = middle;
  }
  return high;
}
