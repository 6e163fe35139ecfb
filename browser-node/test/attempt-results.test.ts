import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import { SENT_FILES_BYTES_MAX } from '@adsweep/shared/lease/capture-with-files.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { Fail } from '@adsweep/shared/lease/messages.ts';
import { FILE, goodOutcome, instantly, leaseBench, untilIdle } from './support/lease-bench.ts';

test('a job is captured and completed with its exit, its traffic and the hashes of its artifacts', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  const leaseId = plane.give();
  const said = await plane.received('complete');
  const { capture } = said.body as { capture: Capture };
  assert.equal(said.leaseId, leaseId);
  assert.equal(capture.exit?.city, 'Berlin');
  assert.deepEqual(capture.traffic, { bytes_sent: 11, bytes_received: 22 });
  const sha256 = createHash('sha256').update(FILE.bytes).digest('hex');
  assert.deepEqual(capture.artifacts, [
    { name: 'landing-0.webp', sha256, bytes: 9, content_type: 'image/webp', width: 12, height: 34 },
  ]);
  await router.until(() => router.calls.includes('DELETE /exits/ticket-1'));
});

test('a failed capture is reported with its code, its cause and the evidence so far', async (t) => {
  const { plane, metrics, loop } = await leaseBench(t, async () => ({
    ...goodOutcome(),
    files: [FILE],
    failure: { code: 'navigation: DNS', cause: 'no such name' },
  }));
  plane.give();
  const fail = (await plane.received('fail')).body as Fail;
  assert.equal(fail.code, 'navigation: DNS');
  assert.equal(fail.cause, 'no such name');
  assert.equal(fail.capture?.artifacts.length, 1);
  await untilIdle(loop, plane);
  assert.match(await metrics.registry.metrics(), /adsweep_node_failures_total\{code="navigation: DNS"\} 1/);
});

test('an unknown emulator fails the attempt as an internal error', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.give({ emulator_id: 'toaster' });
  assert.equal(((await plane.received('fail')).body as Fail).code, 'internal: ERROR');
});

test('an artifact that is larger than the job allows is omitted, with a note', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.give({ limits: { ...JOB_LIMITS.page, artifact_bytes: FILE.bytes.length - 1 } });
  const { capture } = (await plane.received('complete')).body as { capture: Capture };
  assert.deepEqual([capture.artifacts, capture.notes], [[], [note('files', { count: 1 })]]);
});

test('a result is sent again until an unreachable control plane answers', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.refusals.complete = [0, 0, 502];
  plane.give();
  await plane.received('complete');
  assert.equal(plane.count('refused complete'), 1);
  assert.deepEqual([plane.refusals, plane.count('artifacts')], [{ complete: [] }, 0]);
});

test('files are uploaded before their capture where the control plane does not take them together', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.isOlder = true;
  plane.refusals.artifacts = [0, 503];
  plane.refusals.complete = [502];
  plane.give();
  const { capture } = (await plane.received('complete')).body as { capture: Capture };
  assert.equal(capture.artifacts.length, 1);
  assert.deepEqual([plane.refusals, plane.count('artifacts')], [{ artifacts: [], complete: [] }, 1]);
});

test('files that are larger together than 4 MiB are uploaded before their capture', async (t) => {
  const file = (name: string) => ({ ...FILE, name, bytes: Buffer.alloc(SENT_FILES_BYTES_MAX / 2 + 1) });
  const { plane } = await leaseBench(t, async () => ({ ...goodOutcome(), files: [file('a'), file('b')] }));
  plane.give();
  await plane.received('complete');
  assert.equal(plane.count('artifacts'), 2);
});

test('a result that arrives after the lease ended is counted and not sent again', async (t) => {
  const { plane, metrics, loop } = await leaseBench(t, instantly);
  plane.refusals.complete = [409];
  plane.give();
  await plane.received('refused complete');
  await untilIdle(loop, plane);
  assert.equal(plane.count('complete'), 0);
  assert.equal(plane.count('fail'), 0);
  assert.match(await metrics.registry.metrics(), /adsweep_node_late_results_total 1/);
});

test('an attempt whose result the control plane rejects as invalid fails as an internal error', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.refusals.complete = [422];
  plane.give();
  const fail = (await plane.received('fail')).body as Fail;
  assert.equal(fail.code, 'internal: ERROR');
  assert.equal(fail.capture, null);
});
