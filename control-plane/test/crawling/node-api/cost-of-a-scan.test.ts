import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { finishCrawled } from '../../../src/analysis/pipeline/worker.ts';
import { relay } from '../../../src/delivery/outbox/relay.ts';
import { openStore } from '../../../src/platform/store.ts';
import { countingStore, type StoreCalls } from '../../support/counting-store.ts';
import { captureOf, named, type RunningFarm, runningFarm, webp } from '../../support/running-farm.ts';
import { REPORT } from '../../support/simulated-node.ts';

let farm: RunningFarm;
let take: () => StoreCalls;
before(async () => {
  farm = await runningFarm({
    open: async () => {
      const counting = countingStore(await openStore({ path: ':memory:' }));
      take = counting.take;
      return counting.store;
    },
  });
});
after(() => farm.stop());

/** What the relay of the scans' outboxes does when it is woken. */
const relayScans = () => relay({ ...farm.farm.dependencies, sources: [farm.scans.outbox] }, new Date());

/** The reads and writes of the store during `work`. */
async function callsOf(work: () => Promise<unknown>): Promise<[reads: number, writes: number]> {
  take();
  await work();
  const { reads, writes } = take();
  return [reads, writes];
}

it('heartbeats and renewals cost no call of the store, and each step of a page scan few', async () => {
  await farm.submit();
  // The names of blocked, draining and enrolled nodes are read once a second for all nodes.
  await farm.node.report('node-1', REPORT);
  await farm.node.report('node-1', REPORT);
  assert.deepEqual(await callsOf(() => farm.node.report('node-1', REPORT)), [0, 0]);

  let lease = {} as Awaited<ReturnType<RunningFarm['acquireOne']>>;
  const leasing = async () => {
    lease = await farm.acquireOne();
  };
  // Two of the reads are those of the operator's marks, which must be current.
  assert.deepEqual(await callsOf(leasing), [3, 1]);
  assert.deepEqual(await callsOf(() => farm.node.renew(lease)), [0, 0]);
  assert.deepEqual(await callsOf(() => farm.node.reportLoaded(lease)), [0, 1]);

  const files: [name: string, bytes: Buffer][] = [
    ['landing-0.webp', await webp()],
    ['documents.json.gz', gzipSync('[]')],
    ['bodies.json.gz', gzipSync('[]')],
  ];
  for (const [name, bytes] of files)
    assert.deepEqual(await callsOf(() => farm.node.upload(lease, name, 'application/octet-stream', bytes)), [3, 1]);
  const capture = captureOf(['https://shop.example/'], { artifacts: files.map(([name, bytes]) => named(name, bytes)) });
  assert.deepEqual(await callsOf(() => farm.node.complete(lease, capture)), [2, 3]);
  const [reads, writes] = await callsOf(() => finishCrawled(farm.farm.dependencies, new Date()));
  // What waits, the capture, its files, the rules, the tags; these again if the analysis took more than a second.
  assert.ok(reads <= 6 && writes === 2, `${reads} reads and ${writes} writes`);
  // The charge and an event, with the claim and the end of their outbox.
  assert.deepEqual(await callsOf(relayScans), [3, 4]);
  assert.deepEqual(await callsOf(relayScans), [1, 0]);

  await farm.submit();
  const next = await farm.acquireOne();
  const sent = files.map(([name, bytes]) => ({ name, bytes }));
  assert.deepEqual(await callsOf(() => farm.node.completeWithFiles(next, capture, sent)), [1, 3]);
});
