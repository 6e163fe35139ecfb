import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CaptureWorld } from './support/capture-world.ts';

/** Maximum growth of the process while a page floods it; without bounds, it grows by more or ends. */
const GROWTH_MAX = 300_000_000;

let world: CaptureWorld;
before(async () => {
  world = await CaptureWorld.start();
  world.site.setPage('http://plain.example/', '<title>plain</title>plain');
});
after(() => world.close());

/** `isStopped`: the page is stopped while it writes; a single line may take longer than the capture on a busy machine. */
const FLOODS: [name: string, script: string, isStopped: boolean][] = [
  ['one console line of 92 million characters', String.raw`console.log('\x01'.repeat(9.2e7))`, false],
  ['200 console lines of 20 MB', 'for (let n = 0; n < 200; n++) console.log(n + text)', true],
];

for (const [name, script, isStopped] of FLOODS)
  test(`a page that writes ${name} does not grow the node's memory, and another capture in the same browser completes`, async () => {
    const url = `http://flood-${FLOODS.findIndex(([each]) => each === name)}.example/`;
    world.site.setPage(url, `<title>flood</title><script>const text = 'x'.repeat(2e7); ${script}</script>`);
    await world.attempt('http://plain.example/');
    const before = process.memoryUsage.rss();
    let most = before;
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 50);
    const [flood, innocent] = await Promise.all([world.attempt(url), world.attempt('http://plain.example/')]);
    clearInterval(watching);
    assert.deepEqual([innocent.failure, innocent.capture?.landings[0]?.page_title], [null, 'plain']);
    const notes = flood.capture?.notes.map(({ text }) => text).join() ?? '';
    if (isStopped) assert.match(notes, /wrote without end to its console/);
    assert.ok(most - before < GROWTH_MAX, `it grew by ${most - before} bytes`);
  });

test('a page that crashes every browser fails alone, and other attempts in the same browser complete', async () => {
  // A URL of 90 MB makes a message beyond the size limit, in an event that cannot be dropped.
  world.site.setPage(
    'http://killer.example/',
    `<script>setTimeout(() => { fetch('data:,' + 'x'.repeat(9e7)).catch(() => 0) }, 200)</script>`,
  );
  const beside = ['http://plain.example/?1', 'http://plain.example/?2'];
  for (const url of beside) world.site.setPage(url, '<title>plain</title>plain');
  const [killer, ...innocents] = await Promise.all(
    ['http://killer.example/', ...beside].map((url) => world.attempt(url)),
  );
  assert.equal(killer?.failure?.code, 'browser: CRASHED');
  for (const { failure, capture } of innocents)
    assert.deepEqual([failure, capture?.landings[0]?.page_title], [null, 'plain']);
});

test('a page that starts workers endlessly is stopped and captured in its state then', async () => {
  const script =
    "const source = URL.createObjectURL(new Blob([''])); setInterval(() => { for (let n = 0; n < 5; n++) new Worker(source) }, 10)";
  const url = 'http://children.example/';
  world.site.setPage(url, `<title>children</title><body><p>shown</p><script>${script}</script>`);
  const [flood, innocent] = await Promise.all([world.capture(url), world.attempt('http://plain.example/')]);
  assert.equal(flood.failure, null, flood.outcome.failure?.cause);
  assert.match(flood.notes, /started without end, and stopped/);
  assert.deepEqual(
    flood.observed('child_flood').map(({ landing }) => landing),
    [0],
  );
  assert.deepEqual([innocent.failure, innocent.capture?.landings[0]?.page_title], [null, 'plain']);
});
