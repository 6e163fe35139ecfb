import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type PackedScan, unpackScan } from '../../../src/analysis/evidence/packed-scan.ts';
import { finishCrawled } from '../../../src/analysis/pipeline/worker.ts';
import type { Analyse } from '../../../src/analysis/threads/analysis-threads.ts';
import { runWithin } from '../../../src/analysis/threads/run-within.ts';
import { checkCrawled, crawledScan } from '../../support/checked-scans.ts';
import { captureOf, gzJson, type RunningFarm, requestOf, runningFarm } from '../../support/running-farm.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

describe('the inspection of evidence', () => {
  it('ends within a time limit, also in an endless loop or a regular expression', () => {
    assert.equal(
      runWithin(1_000, () => 'an answer'),
      'an answer',
    );
    const endless: (() => unknown)[] = [
      () => {
        for (;;);
      },
      () => /^(a+)+$/.test(`${'a'.repeat(60)}b`),
    ];
    for (const work of endless) assert.throws(() => runWithin(50, work), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
  });

  it('is repeated when the process was paused in the middle of it', () => {
    const stand = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    let begun = 0;
    const pausedAtFirst = () => {
      begun += 1;
      if (begun === 1) stand();
      return 'an answer';
    };
    assert.equal(runWithin(500, pausedAtFirst), 'an answer');
    assert.equal(begun, 2);
    assert.throws(() => runWithin(50, stand), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' }, 'but not for ever');
  });

  it("reads all requests while they are stored, then the capture's own", async () => {
    const seen: PackedScan[] = [];
    const { dependencies } = farm.farm;
    const watched: Analyse = (packed, search) => {
      seen.push(packed);
      return dependencies.analyse(packed, search);
    };
    const scan = await farm.submit();
    const requests = Array.from({ length: 300 }, (_, at) => requestOf(at));
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/'], { requests }));
    await finishCrawled({ ...dependencies, analyse: watched }, new Date());
    assert.equal((await farm.read(scan._id)).status, 'completed');
    const [packed] = seen;
    assert.equal(unpackScan(packed!).evidence.requests.length, 300);
    const kept = { ...packed!, parts: { ...packed!.parts, requests: null } };
    assert.equal(unpackScan(kept).evidence.requests.length, 200, 'after a day');
  });

  it('does not hold the event loop, however large the evidence is', async () => {
    const script = `${'setApprovalForAll writeText eth_call 104,116,116,112 '.repeat(2_400)}`;
    const text = 'your computer is infected, call microsoft windows security at 1-800-555-0199 now. '.repeat(600);
    const body = (at: number) => ({ url: `https://a.example/${at}.js`, resource_type: 'script', content_type: '' });
    const bodies = Array.from({ length: 60 }, (_, at) => ({ ...body(at), bytes: script.length, text: script }));
    const document = { landing: 0, url: 'https://a.example/', title: text, text };
    const documents = Array.from({ length: 20 }, (_, at) => ({
      ...document,
      frame: `${at || ''}`,
      html: '<a '.repeat(9e4),
    }));
    const scan = { organization_id: 'organization', ignore_first_n_domains: 0, referrer: null };
    const none = { requests: null, vastDocuments: null, creativeHtml: null };
    const parts = { ...none, documents: gzJson(documents), bodies: gzJson(bodies) };
    const packed = { scan, capture: gzJson(captureOf(['https://a.example/'])), parts, lost: [], unpackedBytesMax: 1e9 };
    let [turns, isDone] = [0, false];
    const analysing = farm.farm.dependencies.analyse(packed, null).finally(() => {
      isDone = true;
    });
    for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve));
    const { findings, failed } = (await analysing).inspection;
    assert.deepEqual(failed, []);
    assert.ok(findings.some(({ tag_slug }) => tag_slug === 'scareware'));
    assert.ok(turns > 100, `${turns} turns of the event loop`);
  });

  it('of files that an earlier version took and that are no lists of their items ends as partial and names them', async () => {
    const { dependencies } = farm.farm;
    const lists = gzipSync(Buffer.concat([Buffer.from('[[]'), Buffer.alloc(60_000_000, ',[]'), Buffer.from(']')]));
    const broken = [lists, gzJson({}), gzJson('text'), gzJson([null]), gzipSync('{'), Buffer.from('no gzip')];
    const before = process.memoryUsage().rss;
    for (const bytes of broken) {
      const scan = await crawledScan(farm);
      const analyse: Analyse = (packed, search) =>
        dependencies.analyse({ ...packed, parts: { ...packed.parts, documents: bytes, bodies: bytes } }, search);
      await finishCrawled({ ...dependencies, analyse }, new Date());
      const { status, error, tags } = await farm.read(scan._id);
      assert.deepEqual([status, error], ['partial', 'checks: documents, bodies']);
      assert.deepEqual(
        tags.map(({ tag_slug }) => tag_slug),
        ['autosound'],
      );
    }
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 500e6, `${grown} bytes`);
  });

  it('of evidence that cannot be unpacked fails alone, and other scans are finished', async () => {
    const scan = await crawledScan(farm);
    const { dependencies } = farm.farm;
    const broken: Analyse = (packed, search) =>
      dependencies.analyse({ ...packed, capture: new Uint8Array([1, 2, 3]) }, search);
    assert.equal(await finishCrawled({ ...dependencies, analyse: broken }, new Date()), 1);
    assert.equal((await farm.read(scan._id)).status, 'checking', 'its claim runs out');
    const other = await crawledScan(farm);
    await checkCrawled(farm);
    assert.equal((await farm.read(other._id)).status, 'completed');
  });
});
