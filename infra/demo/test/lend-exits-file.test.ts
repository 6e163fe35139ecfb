import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { lendExitsFile } from '../lend-exits-file.ts';

it('an exits file holds the ad world while that runs, and afterwards what it held before, also over a crash', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-exits-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'exits.json');
  const hosts = () => (JSON.parse(readFileSync(file, 'utf8')) as { hosts: Record<string, string> }).hosts;
  writeFileSync(file, '{"own":true}');
  await lendExitsFile(file, 9_000); // A crash: nothing is put back.
  const giveBack = await lendExitsFile(file, 9_001);
  assert.match(hosts()['*.publisher.example']!, /^\d+\.\d+\.\d+\.\d+:9001$/);
  giveBack();
  assert.equal(readFileSync(file, 'utf8'), '{"own":true}');
  assert.deepEqual(readdirSync(folder), ['exits.json']);
  rmSync(file);
  (await lendExitsFile(file, 9_002))();
  assert.deepEqual(readdirSync(folder), []);
});
