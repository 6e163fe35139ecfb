import type { Issue } from '@adsweep/shared/validation/issue.ts';

/** Whole calendar days, both ends inclusive, in an IANA timezone; each bound is independent. */
export type DayRange = { date_from?: string | undefined; date_to?: string | undefined; timezone?: string | undefined };

const DAY_MS = 86_400_000;

/** The issues of a range of days in a query: an unknown timezone, or a first day after the last. */
export function dayRangeIssues({ date_from, date_to, timezone }: DayRange): Issue[] {
  const issues: Issue[] = [];
  if (timezone !== undefined && !isTimezone(timezone)) {
    const msg = 'Must be an IANA timezone, such as Europe/Lisbon.';
    issues.push({ loc: ['query', 'timezone'], msg, type: 'unknown_timezone', ctx: { given: timezone } });
  }
  if (date_from !== undefined && date_to !== undefined && date_from > date_to) {
    const msg = `Must not be after date_to (${date_to}).`;
    issues.push({ loc: ['query', 'date_from'], msg, type: 'invalid_combination', ctx: { given: date_from } });
  }
  return issues;
}

/** The range as times: its start (`$gte`) and its exclusive end (`$lt`); null without bounds. */
export function momentsOf({ date_from, date_to, timezone = 'UTC' }: DayRange): { $gte?: Date; $lt?: Date } | null {
  if (date_from === undefined && date_to === undefined) return null;
  return {
    ...(date_from === undefined ? {} : { $gte: startOfDay(date_from, timezone) }),
    ...(date_to === undefined ? {} : { $lt: startOfDay(dayAfter(date_to), timezone) }),
  };
}

function dayAfter(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/** The first moment of a day in a timezone: midnight, or the end of the gap if a clock change skips midnight. */
function startOfDay(date: string, timezone: string): Date {
  const utc = Date.parse(`${date}T00:00:00Z`);
  const guess = utc - offsetAt(utc, timezone);
  const start = utc - offsetAt(guess, timezone);
  // If the two differ, the clocks change in between; the later moment is on the day, the earlier may be on the day before.
  return new Date(localDay(start, timezone) === date ? start : Math.max(guess, start));
}

/** The offset of the local time from UTC at a moment, in milliseconds; positive east of Greenwich. */
function offsetAt(moment: number, timezone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  }).formatToParts(moment);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(moment / 1000) * 1000;
}

function localDay(moment: number, timezone: string): string {
  return new Date(moment + offsetAt(moment, timezone)).toISOString().slice(0, 10);
}

function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
