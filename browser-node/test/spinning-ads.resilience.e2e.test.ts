import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaptureWorld } from './support/capture-world.ts';

test('an ad is clicked although a frame beside it spins and its scripts are stopped', async (t) => {
  const world = await CaptureWorld.start();
  t.after(() => world.close());
  world.site.setPage('http://shop.example/', '<title>shop</title>a shop');
  world.site.setPage('http://beside.example/', '<script>onload = () => setTimeout(() => { for (;;); }, 300)</script>');
  const tag = `<a href="http://shop.example/" target="_blank"><div style="width: 300px; height: 250px; background: red">ad</div></a>
    <iframe src="http://beside.example/" width="1" height="1"></iframe>`;
  const captured = await world.capture(tag, { kind: 'ad_tag', signal: AbortSignal.timeout(100_000) });
  assert.equal(captured.failure, null, captured.outcome.failure?.cause);
  assert.equal(captured.landings[0]?.page_title, 'shop');
  assert.match(captured.notes, /its scripts were stopped/);
});

/** In a file without other tests at the same time: beside pages that spin too, it would measure the machine. */
test('an ad that spins on a click after the one that opened its landing is captured with it, and reported as busy', async (t) => {
  const world = await CaptureWorld.start();
  t.after(() => world.close());
  world.site.setPage('http://shop.example/', '<title>shop</title>a shop');
  const tag = `<div style="width: 300px; height: 250px; background: red">ad</div><button>more</button><script>
    let clicks = 0;
    addEventListener('click', () => { if (clicks++ > 0) for (;;); open('http://shop.example/') })</script>`;
  const captured = await world.capture(tag, { kind: 'ad_tag', signal: AbortSignal.timeout(100_000) });
  assert.equal(captured.failure, null, captured.outcome.failure?.cause);
  assert.equal(captured.landings[0]?.page_title, 'shop');
  const [busy] = captured.observed('main_thread');
  const { busy_share = 0, over_ms = 0 } = busy?.facts ?? {};
  // As `cpu_hog` demands: a machine that has no CPU left needs longer to see as much.
  assert.ok(
    (busy_share >= 0.8 && over_ms >= 4_000) || (busy_share >= 0.6 && over_ms >= 7_000),
    `${JSON.stringify(busy)} ${captured.notes}`,
  );
});
