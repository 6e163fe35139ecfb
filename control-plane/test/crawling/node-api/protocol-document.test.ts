import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { keys } from '../../support/running-queue.ts';

/** shared/src/lease/PROTOCOL.md and the queue name the same keys and transitions. */
const text = readFileSync(new URL(import.meta.resolve('@adsweep/shared/lease/PROTOCOL.md')), 'utf8');
const cells = (heading: string) =>
  text
    .split(heading)[1]!
    .split('\n\n')[1]!
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1]!.trim().replaceAll('`', ''));

it('PROTOCOL.md lists exactly the keys that the code uses', () => {
  const { prefix: _, job, waiting, waitingOfAll, turns, leases, node, ...fixed } = keys;
  const made = [
    waitingOfAll(0).replace(':0', ':<band>'),
    leases('<org>'),
    node('<node>'),
    job('<job>'),
    waiting('<org>', 0).replace(':0:', ':<band>:'),
    turns('<org>'),
    ...Object.values(fixed),
  ];
  assert.deepEqual(cells('## The keys').sort(), made.sort());
});

it('PROTOCOL.md lists exactly the scripts that exist', () => {
  const files = readdirSync(new URL('../../../src/crawling/queue/scripts/', import.meta.url));
  const scripts = files.filter((file) => file.endsWith('.lua')).map((file) => file.replace('.lua', ''));
  assert.deepEqual(cells('## The transitions').sort(), scripts.sort());
});
