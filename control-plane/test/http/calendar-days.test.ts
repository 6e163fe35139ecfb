import assert from 'node:assert/strict';
import { test } from 'node:test';
import { momentsOf } from '../../src/http/calendar-days.ts';

const dayIn = (timezone: string, date: string) => {
  const moments = momentsOf({ date_from: date, date_to: date, timezone });
  return [moments?.$gte?.toISOString(), moments?.$lt?.toISOString()];
};

test('§4.5.2 a day begins and ends at midnight of its timezone', () => {
  assert.deepEqual(dayIn('UTC', '2026-03-10'), ['2026-03-10T00:00:00.000Z', '2026-03-11T00:00:00.000Z']);
  assert.deepEqual(dayIn('Asia/Tokyo', '2026-03-10'), ['2026-03-09T15:00:00.000Z', '2026-03-10T15:00:00.000Z']);
  assert.deepEqual(dayIn('America/New_York', '2026-01-31'), ['2026-01-31T05:00:00.000Z', '2026-02-01T05:00:00.000Z']);
  assert.deepEqual(dayIn('Asia/Kathmandu', '2026-03-10'), ['2026-03-09T18:15:00.000Z', '2026-03-10T18:15:00.000Z']);
});

test('§4.5.2 a day on which clocks change has 23 or 25 hours', () => {
  assert.deepEqual(dayIn('Europe/Berlin', '2026-03-29'), ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z']);
  assert.deepEqual(dayIn('Europe/Berlin', '2026-10-25'), ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z']);
});

test('a day whose midnight is skipped begins at the end of the gap', () => {
  // Lebanon's clocks go from 00:00 to 01:00.
  assert.deepEqual(dayIn('Asia/Beirut', '2024-03-31'), ['2024-03-30T22:00:00.000Z', '2024-03-31T21:00:00.000Z']);
});

test('each bound is optional; without bounds there is no range', () => {
  assert.deepEqual(Object.keys(momentsOf({ date_from: '2026-01-01' }) ?? {}), ['$gte']);
  assert.deepEqual(Object.keys(momentsOf({ date_to: '2026-01-01' }) ?? {}), ['$lt']);
  assert.equal(momentsOf({ timezone: 'Asia/Tokyo' }), null);
});
