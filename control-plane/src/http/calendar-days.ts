import { DAY_MS } from '@adsweep/shared/durations.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { isTimezone } from '@adsweep/shared/validation/timezone.ts';

/** Whole calendar days, both ends inclusive, in an IANA timezone; each bound is independent. */
export type DayRange = { date_from?: string | undefined; date_to?: string | undefined; timezone?: string | undefined };

/** The issues of a range of days in a query: an unknown timezone, or a first day after the last. */
export function dayRangeIssues({ date_from, date_to, timezone }: DayRange): Issue[] {
  return [...timezoneIssues(timezone, ['query', 'timezone']), ...orderIssues('date', date_from, date_to)];
}

/** The issue of a timezone that does not exist, at `loc`. */
export function timezoneIssues(timezone: string | undefined, loc: Issue['loc']): Issue[] {
  if (timezone === undefined || isTimezone(timezone)) return [];
  const msg = 'Must be an IANA timezone, such as Europe/Lisbon.';
  return [{ loc, msg, type: 'unknown_timezone', ctx: { given: timezone } }];
}

/** The issue of query parameters `<name>_from` and `<name>_to` whose first day is after the last. */
export function orderIssues(name: string, from: string | undefined, to: string | undefined): Issue[] {
  return from === undefined || to === undefined || from <= to ? [] : [orderIssue(name, from, to)];
}

/** The issue of a start `<name>_from` that is after the end `<name>_to`, as they were sent. */
export function orderIssue(name: string, from: string | undefined, to: string | undefined): Issue {
  const msg = `Must not be after ${name}_to (${to}).`;
  return { loc: ['query', `${name}_from`], msg, type: 'invalid_combination', ctx: { given: from } };
}

/** The range as times: its start (`$gte`) and its exclusive end (`$lt`); null without bounds. */
export function momentsOf({ date_from, date_to, timezone = 'UTC' }: DayRange): { $gte?: Date; $lt?: Date } | null {
  if (date_from === undefined && date_to === undefined) return null;
  return {
    ...(date_from === undefined ? {} : { $gte: startOfDay(date_from, timezone) }),
    ...(date_to === undefined ? {} : { $lt: startOfDay(dayAfter(date_to), timezone) }),
  };
}

/** Whether a moment is in a period, whose end is exclusive; null: it has no bounds. */
export const isWithin = (at: Date, period: { $gte?: Date; $lt?: Date } | null): boolean =>
  (!period?.$gte || at >= period.$gte) && (!period?.$lt || at < period.$lt);

function dayAfter(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/** The first moment of a day in a timezone: midnight, or the end of the gap if a clock change skips midnight. */
function startOfDay(date: string, timezone: string): Date {
  const utc = Date.parse(`${date}T00:00:00Z`);
  const guess = utc - offsetAt(utc, timezone);
  const start = utc - offsetAt(guess, timezone);
  // If the two differ, the clocks change in between; the later moment is on the day, the earlier may be on the day
  // before.
  return new Date(localDay(start, timezone) === date ? start : Math.max(guess, start));
}

/** The offset of the local time from UTC at a moment, in milliseconds; positive east of Greenwich. */
export function offsetAt(moment: number, timezone: string): number {
  const parts = clockOf(timezone).formatToParts(moment);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(moment / 1000) * 1000;
}

/**
 * Clocks that were made: making one takes much longer than reading it. Names in any letter case could be more than fit
 * into memory.
 */
const clocks = new Map<string, Intl.DateTimeFormat>();
const CLOCKS_MAX = 1_000;

function clockOf(timezone: string): Intl.DateTimeFormat {
  const known = clocks.get(timezone);
  if (known) return known;
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (clocks.size >= CLOCKS_MAX) clocks.clear();
  clocks.set(timezone, clock);
  return clock;
}

function localDay(moment: number, timezone: string): string {
  return new Date(moment + offsetAt(moment, timezone)).toISOString().slice(0, 10);
}
