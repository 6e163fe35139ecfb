import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Observation } from '@adsweep/shared/capture/observations/index.ts';
import { until } from '../../shared/test/support/until.ts';
import { detectors } from '../src/analysis/detectors/detect.ts';
import type { Detector } from '../src/analysis/detectors/detector.ts';
import type { Need } from '../src/analysis/detectors/evidence.ts';
import { inspect } from '../src/analysis/inspection/inspect.ts';
import { type PackedScan, unpackScan } from '../src/analysis/inspection/packed-scan.ts';
import { runWithin } from '../src/analysis/inspection/run-within.ts';
import { finishScan } from '../src/analysis/pipeline/finish-scan.ts';
import { finishCrawled, startWorker } from '../src/analysis/pipeline/worker.ts';
import type { RuleRecord } from '../src/analysis/rules/rule.ts';
import type { ReadPackedCapture } from '../src/crawling/captures/read-capture.ts';
import { createWakeSignal } from '../src/platform/wake-signal.ts';
import type { TagDefinition } from '../src/reference/tags/tag-definitions.ts';
import { changeScan } from '../src/scanning/scans/state/change-scan.ts';
import type { ScanRecord } from '../src/scanning/scans/state/scan.ts';
import { captureOf, gzJson, type RunningFarm, requestOf, runningFarm } from './support/running-farm.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const loud: Observation = {
  kind: 'autosound',
  landing: 0,
  url: 'https://shop.example/',
  facts: { via: 'play', muted: false, volume: 1, started: false, has_audio: true },
};

async function crawled(observations: Observation[] = [loud], chain = ['https://shop.example/']): Promise<ScanRecord> {
  const scan = await farm.submit();
  const lease = await farm.acquireOne();
  await farm.node.complete(lease, captureOf(chain, { observations }));
  return farm.read(scan._id);
}

const tagOf = (slug: string, organization_id: string): TagDefinition => ({
  ...{ slug, organization_id, category: 'custom', severity: 'low', visibility: 'internal' },
  ...{ display_name: slug, description: '', archived_at: null },
});

const work = (now = new Date()) => finishCrawled(farm.farm.dependencies, now);
const kindsOf = ({ outbox }: ScanRecord) => outbox.map((entry) => (entry.kind === 'event' ? entry.event : entry.kind));
const slowly = (read: ReadPackedCapture, ms: number): ReadPackedCapture => {
  return (scan) => new Promise((resolve) => setTimeout(() => resolve(read(scan)), ms));
};
const [TAGS, COMPLETED] = ['scanning.tags.detected', 'scanning.scan.completed'];

describe('the checks after a crawl', () => {
  it('§6.2 tell of tags, where there are any, before they tell that the scan is completed', async () => {
    const [tagged, clean] = [await crawled(), await crawled([])];
    assert.equal(await work(), 2);
    assert.deepEqual(kindsOf(await farm.read(tagged._id)), ['charge', TAGS, COMPLETED]);
    assert.deepEqual(kindsOf(await farm.read(clean._id)), ['charge', COMPLETED]);
    assert.equal((await farm.read(clean._id)).status, 'completed');
  });

  it('§2.5.2 §2.5.4 do not assign an archived tag, and no event names it; restoring it tags no scan of the meantime', async () => {
    const autosound = (await farm.tags.visibleTo(null)).get('autosound')!;
    await farm.tags.setArchived(autosound, new Date(), new Date());
    const scan = await crawled();
    await work();
    await farm.tags.setArchived(autosound, null, new Date());
    const later = await crawled();
    await work();
    assert.deepEqual((await farm.read(scan._id)).tags, []);
    assert.deepEqual(kindsOf(await farm.read(scan._id)), ['charge', COMPLETED], 'no event names it');
    assert.equal((await farm.read(later._id)).tags.length, 1);
  });

  it('§2.6.8 assign the tags of rules, which say where they found something', async () => {
    const { rules, tags } = farm;
    const scan = await farm.submit();
    const { organization_id } = scan;
    const own = (tag_slug: string, rest: object) => ({
      ...{ _id: `${tag_slug}-${scan._id}`, owner: organization_id, organization_id, name: tag_slug, tag_slug },
      ...{ target: 'page' as const, is_active: true, created_at: new Date(), ...rest },
    });
    const found = [
      own('kit', { rule_type: 'regexp_request_url', config: { pattern: 'exploit-\\d+' } }),
      own('loud-kit', { rule_type: 'combo', config: { all_of: ['kit', 'autosound'] } }),
      own('quiet', { rule_type: 'combo', config: { none_of: ['autosound'] } }),
    ] as RuleRecord[];
    for (const rule of found) {
      await rules.insert(rule);
      await tags.register(tagOf(rule.tag_slug, organization_id), new Date());
    }
    const requests = [requestOf(1, { url: 'https://cdn.example/exploit-42.js' })];
    await farm.node.complete(
      await farm.acquireOne(),
      captureOf(['https://shop.example/'], { observations: [loud], requests }),
    );
    await work();
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.error], ['completed', '']);
    assert.deepEqual(
      finished.tags.map(({ tag_slug }) => tag_slug),
      ['autosound', 'kit', 'loud-kit'],
    );
    const { url, match } = finished.tags[1]!;
    assert.equal(url, 'https://cdn.example/exploit-42.js');
    const { rule_id, place, offset, excerpt } = match!;
    assert.deepEqual([rule_id, place, offset], [`kit-${scan._id}`, 'request', 20]);
    assert.equal(excerpt, 'https://cdn.example/«exploit-42».js');
  });

  it('§2.5.3 a combo with an archived input does not fire, not even where it asks for its absence', async () => {
    const { rules, tags } = farm;
    const scan = await farm.submit();
    const { organization_id } = scan;
    const config = { none_of: ['old'] };
    await rules.insert({
      ...{ _id: `combo-${scan._id}`, owner: organization_id, organization_id, name: 'combo', tag_slug: 'new' },
      ...{ rule_type: 'combo', config, target: 'page', is_active: true, created_at: new Date() },
    });
    await tags.register(tagOf('new', organization_id), new Date());
    await tags.register({ ...tagOf('old', organization_id), archived_at: new Date() }, new Date());
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/']));
    await work();
    assert.deepEqual((await farm.read(scan._id)).tags, []);
  });

  it('§8.4 end as partial and say which rules were skipped, where the budget was spent', async () => {
    const scan = await crawled();
    const missing = ['rules skipped, the time budget was spent: "Casino words"'];
    const judgeByRules = async () => ({ findings: [], missing });
    await finishCrawled({ ...farm.farm.dependencies, judgeByRules }, new Date());
    const { status, error, tags } = await farm.read(scan._id);
    assert.deepEqual([status, error, tags.length], ['partial', `checks: ${missing[0]}`, 1]);
  });

  it('§8.4 end as partial and say which rules could not be read; the others find what they look for', async () => {
    const scan = await farm.submit();
    const { organization_id } = scan;
    for (const [name, pattern] of [
      ['unreadable', 'kit-('],
      ['readable', 'shop'],
    ] as const)
      await farm.rules.insert({
        ...{ _id: `${name}-${scan._id}`, owner: organization_id, organization_id, name, tag_slug: 'kit' },
        ...{ rule_type: 'regexp_url', config: { pattern }, target: 'page', is_active: true, created_at: new Date() },
      });
    await farm.tags.register(tagOf('kit', organization_id), new Date());
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/']));
    await work();
    const { status, error, tags } = await farm.read(scan._id);
    assert.deepEqual([status, error], ['partial', 'checks: rules that could not be read: "unreadable"']);
    assert.deepEqual(
      tags.map(({ tag_slug }) => tag_slug),
      ['kit'],
    );
  });

  it('end when they are done, not when they began', async () => {
    const scan = await crawled();
    const slow = { ...farm.farm.dependencies, readPackedCapture: slowly(farm.farm.dependencies.readPackedCapture, 60) };
    await finishCrawled(slow, new Date());
    const { crawled_at, completed_at } = await farm.read(scan._id);
    assert.ok(crawled_at && completed_at);
    assert.ok(completed_at.getTime() - crawled_at.getTime() >= 50, 'the checks are part of the time they take');
  });

  it('are done once by two workers that look at the same time', async () => {
    const scan = await crawled();
    const claims = await Promise.all([work(), work(), work()]);
    assert.equal(
      claims.reduce((sum, count) => sum + count, 0),
      1,
    );
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.tags.length], ['completed', 1]);
  });

  it('are taken over when their worker is gone, and the late one changes nothing', async () => {
    const scan = await crawled();
    const now = new Date();
    const claim = { type: 'claim_checks' as const, until: new Date(now.getTime() + 60_000) };
    const gone = await changeScan(farm.scans, scan, claim, now);
    assert.ok(gone);
    assert.equal(await work(new Date(now.getTime() + 59_000)), 0, 'its claim still holds');
    assert.equal(await work(new Date(now.getTime() + 61_000)), 1);
    assert.equal(await finishScan(farm.farm.dependencies, gone, new Date()), false);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.tags.length], ['completed', 1]);
    assert.deepEqual(kindsOf(finished), ['charge', TAGS, COMPLETED]);
  });

  it('are repeated after a crash in the middle, without doubling anything', async () => {
    const scan = await crawled();
    const { dependencies } = farm.farm;
    const crashes = [
      { readPackedCapture: () => Promise.reject(new Error('killed')) },
      { scans: { ...dependencies.scans, apply: crashAtFinish(dependencies.scans) } },
    ];
    let now = new Date();
    for (const broken of crashes) {
      assert.equal(await finishCrawled({ ...dependencies, ...broken }, now), 1);
      assert.equal((await farm.read(scan._id)).status, 'checking');
      now = new Date(now.getTime() + 61_000);
    }
    assert.equal(await work(now), 1);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.tags.length], ['completed', 1]);
    assert.deepEqual(kindsOf(finished), ['charge', TAGS, COMPLETED]);
  });

  it('§3.6 end as partial where the evidence is gone', async () => {
    const scan = await crawled();
    await farm.store.collection('captures').deleteMany({ scan_id: scan._id });
    await work();
    assert.equal((await farm.read(scan._id)).status, 'partial');
  });

  it('end as partial, with the reason, when they have been interrupted three times', async () => {
    const scan = await crawled();
    const { dependencies } = farm.farm;
    const killed = { ...dependencies, readPackedCapture: () => Promise.reject(new Error('killed')) };
    const start = Date.now();
    for (let times = 1; times <= 3; times += 1) {
      assert.equal(await finishCrawled(killed, new Date(start + times * 61_000)), 1);
      assert.deepEqual((await farm.read(scan._id)).status, 'checking');
    }
    assert.equal(await finishCrawled(killed, new Date(start + 4 * 61_000)), 1);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.error, finished.tags], ['partial', 'checks: INTERRUPTED', []]);
    assert.deepEqual(kindsOf(finished), ['charge', COMPLETED]);
  });

  it('do not hold the worker for ever when they hang', async (t) => {
    const scan = await crawled();
    const asked = Promise.withResolvers<void>();
    const hang: ReadPackedCapture = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const turn = finishCrawled({ ...farm.farm.dependencies, readPackedCapture: hang }, new Date());
    await asked.promise;
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(300_000);
    assert.equal(await turn, 1);
    assert.equal((await farm.read(scan._id)).status, 'checking', 'whoever finds its claim run out tries again');
  });

  it('keep their claim for as long as they run, however long that is', async () => {
    const scan = await crawled();
    const end = Promise.withResolvers<void>();
    const { dependencies } = farm.farm;
    const slow: ReadPackedCapture = (one) => end.promise.then(() => dependencies.readPackedCapture(one));
    const limits = { slots: 1, claimMs: 3_000, checksMs: 60_000 };
    const turn = finishCrawled({ ...dependencies, readPackedCapture: slow }, new Date(), limits);
    const claims = new Set<number>();
    await until('its claim to be renewed past its first length', async () => {
      const { checks_claimed_until } = await farm.read(scan._id);
      if (checks_claimed_until) claims.add(checks_claimed_until.getTime());
      assert.equal(await work(), 0, 'no other worker may claim it');
      return claims.size > 4;
    });
    end.resolve();
    assert.equal(await turn, 1);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.checks_attempts], ['completed', 1]);
  });

  it('of one scan never wait for those of another', async () => {
    const end = Promise.withResolvers<void>();
    const { dependencies } = farm.farm;
    const slow = await crawled();
    const readPackedCapture: ReadPackedCapture = async (one) => {
      if (one.capture?.id === slow.capture?.id) await end.promise;
      return dependencies.readPackedCapture(one);
    };
    const wake = createWakeSignal();
    const worker = startWorker({ ...dependencies, readPackedCapture }, wake, {
      slots: 2,
      claimMs: 30_000,
      checksMs: 60_000,
    });
    try {
      await until('the slow one to begin', async () => (await farm.read(slow._id)).status === 'checking');
      for (let one = 0; one < 5; one += 1) {
        const quick = await crawled();
        wake.raise();
        await until('a quick one to end', async () => (await farm.read(quick._id)).status === 'completed');
      }
      assert.equal((await farm.read(slow._id)).status, 'checking');
    } finally {
      end.resolve();
      await worker.stop();
    }
    assert.equal((await farm.read(slow._id)).status, 'completed', 'stopping waits for what is under way');
  });

  it('are judged within a time that no endless loop and no regular expression outlasts', () => {
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

  it('are judged all the same when the process was paused in the middle of a judgement', () => {
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

  it('§3.6 lose the findings of a detector that fails alone, and say which one it was', async () => {
    const scan = await crawled();
    const broken: Detector<Need> = {
      name: 'broken',
      needs: [],
      detect: () => {
        throw new Error('a detector with a fault');
      },
    };
    const inspectHere = async (packed: PackedScan) => inspect(unpackScan(packed), packed.scan, [broken, ...detectors]);
    await finishCrawled({ ...farm.farm.dependencies, inspect: inspectHere }, new Date());
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.error], ['partial', 'checks: broken']);
    assert.deepEqual(
      finished.tags.map(({ tag_slug }) => tag_slug),
      ['autosound'],
    );
  });

  it('look at all requests while they are kept, and at contents and documents', async () => {
    const seen: PackedScan[] = [];
    const { dependencies } = farm.farm;
    const watched = (packed: PackedScan) => {
      seen.push(packed);
      return dependencies.inspect(packed);
    };
    const scan = await farm.submit();
    const requests = Array.from({ length: 300 }, (_, at) => requestOf(at));
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/'], { requests }));
    await finishCrawled({ ...dependencies, inspect: watched }, new Date());
    assert.equal((await farm.read(scan._id)).status, 'completed');
    const [packed] = seen;
    assert.equal(unpackScan(packed!).requests.length, 300);
    const kept = { ...packed!, parts: { ...packed!.parts, requests: null } };
    assert.equal(unpackScan(kept).requests.length, 200, 'after a day');
  });

  it('look at what a page made large beside the process, which does other things meanwhile', async () => {
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
    const scan = { ignore_first_n_domains: 0, referrer: null };
    const parts = { requests: null, documents: gzJson(documents), bodies: gzJson(bodies), vastDocuments: null };
    const packed = { scan, capture: gzJson(captureOf(['https://a.example/'])), parts, unpackedBytesMax: 1e9 };
    let [turns, isDone] = [0, false];
    const inspecting = farm.farm.dependencies.inspect(packed).finally(() => {
      isDone = true;
    });
    for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve));
    const { findings, failed } = await inspecting;
    assert.deepEqual(failed, []);
    assert.ok(findings.some(({ tag_slug }) => tag_slug === 'scareware'));
    assert.ok(turns > 100, `${turns} turns of the event loop`);
  });

  it('are done by a thread that hostile evidence ends, and others go on', async () => {
    const scan = await crawled();
    const { dependencies } = farm.farm;
    const broken = async (packed: PackedScan) =>
      dependencies.inspect({ ...packed, capture: new Uint8Array([1, 2, 3]) });
    assert.equal(await finishCrawled({ ...dependencies, inspect: broken }, new Date()), 1);
    assert.equal((await farm.read(scan._id)).status, 'checking', 'its claim runs out');
    const other = await crawled();
    await work();
    assert.equal((await farm.read(other._id)).status, 'completed');
  });

  it('§4.2.11 leave out what happened on skipped domains, and show the whole chain all the same', async () => {
    const chain = ['https://go.tracker.example/', 'https://www.shop.example/'];
    const scan = await farm.submit({ ignore_first_n_domains: 2 });
    const lease = await farm.acquireOne();
    await farm.node.complete(lease, captureOf(chain, { observations: [loud] }));
    await work();
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.tags, finished.classification?.brand], [[], null]);
    const [landing] = (await farm.farm.evidenceOf(finished)).landings;
    assert.deepEqual(
      landing?.redirect_chain.map(({ url }) => url),
      chain,
    );
  });
});

/** Fails the write that finishes a scan, as a crash right before it would. */
function crashAtFinish(scans: RunningFarm['scans']): RunningFarm['scans']['apply'] {
  return (scan, change) =>
    change.set.status === 'completed' ? Promise.reject(new Error('killed')) : scans.apply(scan, change);
}
