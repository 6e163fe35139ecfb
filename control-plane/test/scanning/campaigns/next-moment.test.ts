import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextMoment, type SchedulePlan } from '../../../src/scanning/schedules/next-moment.ts';

const [HALF_HOUR_MS, DAY_MS] = [1_800_000, 86_400_000];
const FROM = Date.parse('2026-01-01T00:00:00Z');
const UNTIL = Date.parse('2027-01-01T00:00:00Z');
const EVERY_DAY = (hours: number[]) =>
  Object.fromEntries(['0', '1', '2', '3', '4', '5', '6'].map((day) => [day, hours]));

/** All moments of a plan in a period. */
function momentsOf(plan: SchedulePlan, from = FROM, until = UNTIL): string[] {
  const moments: string[] = [];
  for (let at = nextMoment(plan, new Date(from)); at.getTime() < until; at = nextMoment(plan, at))
    moments.push(at.toISOString());
  return moments;
}

/** The same from the clocks themselves: an hour fires when the clocks of the zone first reach or pass it. */
function momentsByClock(weekly: Record<string, number[]>, timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const clock = (moment: number) => Date.parse(`${format.format(moment).replace(' ', 'T')}Z`);
  const moments: string[] = [];
  let latest = clock(FROM);
  for (let moment = FROM + HALF_HOUR_MS; moment < UNTIL; moment += HALF_HOUR_MS) {
    const shown = clock(moment);
    for (let passed = latest + HALF_HOUR_MS; passed <= shown; passed += HALF_HOUR_MS) {
      const date = new Date(passed);
      const hours = date.getUTCMinutes() === 0 ? weekly[String((date.getUTCDay() + 6) % 7)] : undefined;
      const iso = new Date(moment).toISOString();
      if (hours?.includes(date.getUTCHours()) && moments.at(-1) !== iso) moments.push(iso);
    }
    latest = Math.max(latest, shown);
  }
  return moments;
}

describe('the moments of a schedule', () => {
  // Half an hour of daylight saving, a change at midnight, one in the south, an offset of half an hour, none.
  const ZONES = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago', 'America/New_York', 'Asia/Kolkata'];

  test('§2.8 a year of weekly schedules in five zones fires each hour once, at both clock changes too', (t) => {
    const weekly = { ...EVERY_DAY([0, 1, 2, 3, 23]), '2': [], '4': [12] };
    let [cpu, firings] = [0, 0];
    for (const timezone of ZONES) {
      const start = process.cpuUsage();
      const moments = momentsOf({ type: 'weekly', weekly, timezone });
      cpu += process.cpuUsage(start).user / 1_000;
      assert.deepEqual(moments, momentsByClock(weekly, timezone), timezone);
      assert.ok(moments.length > 1_300, timezone);
      firings += moments.length;
    }
    t.diagnostic(`${firings} firings in ${cpu.toFixed(0)} ms of CPU`);
  });

  test('§2.8 an hour that is skipped fires at the first moment after, one that is repeated at its first pass', () => {
    const berlin = (hours: number[], day: string) => {
      const from = Date.parse(`${day}T00:00:00Z`) - DAY_MS / 2;
      return momentsOf({ type: 'weekly', weekly: EVERY_DAY(hours), timezone: 'Europe/Berlin' }, from, from + DAY_MS);
    };
    assert.deepEqual(berlin([2], '2026-03-29'), ['2026-03-29T01:00:00.000Z']);
    assert.deepEqual(berlin([2, 3], '2026-03-29'), ['2026-03-29T01:00:00.000Z'], 'once, with the hour after it');
    assert.deepEqual(berlin([2, 3], '2026-10-25'), ['2026-10-25T00:00:00.000Z', '2026-10-25T02:00:00.000Z']);
    const samoa: SchedulePlan = { type: 'weekly', weekly: { '4': [9] }, timezone: 'Pacific/Apia' };
    const skippedDay = momentsOf(samoa, Date.parse('2011-12-25T00:00:00Z'), Date.parse('2012-01-02T00:00:00Z'));
    assert.deepEqual(skippedDay, ['2011-12-30T10:00:00.000Z'], 'a Friday that the zone did not have');
  });

  test('§2.8 an interval counts from its anchor, without drift and without what was missed', () => {
    const anchor = new Date('2026-03-01T10:00:07.003Z');
    const plan: SchedulePlan = { type: 'interval', seconds: 2_700, anchor };
    assert.equal(nextMoment(plan, anchor).toISOString(), '2026-03-01T10:45:07.003Z');
    assert.equal(nextMoment(plan, new Date('2026-03-01T09:00:00Z')).toISOString(), '2026-03-01T10:45:07.003Z');
    assert.equal(nextMoment(plan, new Date('2026-03-01T10:45:07.002Z')).toISOString(), '2026-03-01T10:45:07.003Z');
    const later = nextMoment(plan, new Date('2026-11-20T00:00:00Z')).getTime();
    assert.equal((later - anchor.getTime()) % 2_700_000, 0);
  });
});
