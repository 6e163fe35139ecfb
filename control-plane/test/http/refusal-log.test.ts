import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { refusalLog } from '../../src/http/request-lifecycle.ts';

test('at most ten refusals per minute, route and status are logged; the others are counted', () => {
  const lines: { text: string; fields: Record<string, unknown> }[] = [];
  const log = {
    info: (fields: Record<string, unknown>, text: string) => lines.push({ fields, text }),
  } as unknown as Logger;
  let now = 0;
  const refused = refusalLog(() => now);
  const refuse = (status: number) =>
    refused(log, { request_id: 'r', method: 'GET', route: '/api/v1/scans', status, ms: 1 });
  for (let count = 0; count < 1_000; count++) refuse(401);
  refuse(404);
  assert.equal(lines.length, 11);
  now = 60_000;
  refuse(401);
  assert.deepEqual(
    lines.slice(11).map(({ text }) => text),
    ['further refusals were not logged', 'refused'],
  );
  assert.equal(lines[11]?.fields.left, 990);
});
