import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitingWords } from '../waiting-words.ts';

test('each thing that is missing is told with what to do about it', () => {
  const lines = waitingWords(['disk', 'redis', 'catalogue'], '/srv/adsweep').split('\n');
  assert.equal(lines.length, 3);
  assert.match(
    lines[0]!,
    /^ {2}waiting for disk space: free some on the disk of \/srv\/adsweep, or set ADSWEEP_DATA_DIR/,
  );
  assert.match(lines[1]!, /REDIS_URL/);
  assert.match(lines[2]!, /\/srv\/adsweep\/log\/proxy-router\.log/);
});

test('what nobody described is told by its name', () => {
  assert.equal(waitingWords(['draining'], '/srv/adsweep'), '  waiting for draining');
});
