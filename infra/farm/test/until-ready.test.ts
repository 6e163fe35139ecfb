import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitingWords } from '../until-ready.ts';

test('each missing part is printed with advice', () => {
  const lines = waitingWords(['disk', 'redis', 'catalogue', 'files'], '/srv/adsweep').split('\n');
  assert.equal(lines.length, 4);
  assert.match(
    lines[0]!,
    /^ {2}waiting for disk space: free some on the disk of \/srv\/adsweep, or set ADSWEEP_DATA_DIR/,
  );
  assert.match(lines[1]!, /REDIS_URL/);
  assert.match(lines[2]!, /\/srv\/adsweep\/log\/proxy-router\.log/);
  assert.match(lines[3]!, /ADSWEEP_S3_/);
});

test('a missing part without advice is printed by its name', () => {
  assert.equal(waitingWords(['draining'], '/srv/adsweep'), '  waiting for draining');
});
