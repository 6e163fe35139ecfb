import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { BODIES } from '@adsweep/shared/capture/artifacts.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { BODY_LIFETIME_MS } from '@adsweep/shared/limits.ts';
import { finishCrawled } from '../../src/analysis/pipeline/worker.ts';
import type { RuleRecord } from '../../src/analysis/rules/rule.ts';
import { relay } from '../../src/delivery/outbox/relay.ts';
import { changeScan } from '../../src/scan/change-scan.ts';
import { type RecheckScope, recheckScans } from '../../src/scan/recheck.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { addRule, checkCrawled, crawledScan, LOUD, RECHECK_FAKES, slugsOf } from '../support/checked-scans.ts';
import { captureOf, gzJson, named, type RunningFarm, requestOf, runningFarm } from '../support/running-farm.ts';

const HOUR_MS = 60 * 60 * 1_000;

describe('a recheck', () => {
  let farm: RunningFarm;
  before(async () => {
    farm = await runningFarm();
  });
  afterEach(() => farm.forgetScans());
  after(() => farm.stop());

  const PAGE = 'https://shop.example/';
  /** The contents of a capture, which are there for a day. */
  const requests = Array.from({ length: 201 }, (_, id) => requestOf(id, { url: `https://cdn.example/request-${id}` }));
  const bodies = gzJson([
    {
      url: 'https://cdn.example/kit.js',
      resource_type: 'script',
      content_type: '',
      bytes: 18,
      text: 'payload-of-the-kit',
    },
  ]);

  /** A scan whose first check has ended, with sound and with contents. */
  async function checked(): Promise<ScanRecord> {
    const scan = await farm.submit();
    const lease = await farm.acquireOne();
    await farm.node.upload(lease, BODIES, 'application/gzip', bodies);
    const artifacts = [named(BODIES, bodies)];
    await farm.node.complete(lease, captureOf([PAGE], { observations: [LOUD], requests, artifacts }));
    await work();
    return farm.read(scan._id);
  }
  const work = () => checkCrawled(farm);
  const relayAll = async () => {
    while ((await relay(farm.farm.dependencies, new Date())).entries > 0);
  };
  const scope: RecheckScope = { newest: 10 };
  const recheck = ({ organization_id }: ScanRecord, id = newId()) =>
    recheckScans({ scans: farm.scans, ...RECHECK_FAKES }, organization_id, scope, id);

  it('§3.8 removes the tags, and assigns those of the current rules, without a crawl', async () => {
    const before = await checked();
    assert.deepEqual([before.status, slugsOf(before)], ['completed', ['autosound']]);
    const autosound = (await farm.tags.visibleTo(null)).get('autosound')!;
    await farm.tags.setArchived(autosound, new Date(), new Date());
    await addRule(farm, before, 'kit', { rule_type: 'regexp_request_url', config: { pattern: 'request-200$' } });
    await addRule(farm, before, 'payload', { rule_type: 'regexp_request_body', config: { pattern: 'payload' } });
    assert.equal(await recheck(before), 1);
    const waiting = await farm.read(before._id);
    assert.deepEqual([waiting.status, waiting.tags], ['rechecking', []]);
    assert.equal(await work(), 1);
    await farm.tags.setArchived(autosound, null, new Date());
    const after = await farm.read(before._id);
    // It was archived meanwhile, which a recheck does not undo (§2.5.5).
    assert.deepEqual([after.status, slugsOf(after)], ['completed', ['kit', 'payload', 'autosound']]);
    assert.deepEqual(after.completed_at, before.completed_at, 'it ended when it ended first');
    assert.deepEqual(after.capture, before.capture);
    assert.equal((await farm.node.acquire({ node_id: 'node-1', max: 1, wait_ms: 0 })).leases.length, 0, 'no crawl');
  });

  it('§2.5.5 keeps the assignments of archived tags, even if their rule is gone, and shows and announces none', async () => {
    const before = await checked();
    await addRule(farm, before, 'kit', { rule_type: 'regexp_request_url', config: { pattern: 'request-200$' } });
    await recheck(before);
    await work();
    assert.deepEqual(slugsOf(await farm.read(before._id)), ['autosound', 'kit']);
    const tagOf = async (slug: string) => (await farm.tags.visibleTo(before.organization_id)).get(slug)!;
    await farm.tags.setArchived(await tagOf('kit'), new Date(), new Date());
    await farm.rules.remove({ _id: `kit-${before._id}`, owner: before.organization_id } as RuleRecord);
    for (let times = 0; times < 2; times += 1) {
      await recheck(before);
      await work();
    }
    const archived = await farm.read(before._id);
    assert.deepEqual([slugsOf(archived), archived.tags_before_recheck], [['autosound', 'kit'], []]);
    const events = archived.outbox.flatMap((entry) =>
      entry.kind === 'event' && entry.event === 'scanning.tags.detected' ? [entry.payload] : [],
    );
    const { scan_id, tag_slugs, tags } = events.at(-1)!;
    assert.deepEqual([scan_id, tag_slugs, tags.map(({ slug }) => slug)], [before._id, ['autosound'], ['autosound']]);
    await farm.tags.setArchived(await tagOf('kit'), null, new Date());
    await recheck(before);
    await work();
    assert.deepEqual(slugsOf(await farm.read(before._id)), ['autosound'], 'a tag in service is judged anew');
  });

  it('§2.5.5 keeps the assignment of a tag that is archived or restored while the scan is rechecked, once', async () => {
    const before = await checked();
    const autosound = (await farm.tags.visibleTo(null)).get('autosound')!;
    for (const [atFirst, then] of [
      [null, new Date()],
      [new Date(), null],
    ] as const) {
      await farm.tags.setArchived(autosound, atFirst, new Date());
      await recheck(before);
      await farm.tags.setArchived(autosound, then, new Date());
      await work();
      assert.deepEqual(slugsOf(await farm.read(before._id)), ['autosound']);
    }
    await farm.tags.setArchived(autosound, null, new Date());
  });

  it('§8.5 after a day matches no contents, and only the first 200 requests', async () => {
    const before = await checked();
    await addRule(farm, before, 'last', { rule_type: 'regexp_request_url', config: { pattern: 'request-199$' } });
    await addRule(farm, before, 'beyond', { rule_type: 'regexp_request_url', config: { pattern: 'request-200$' } });
    await addRule(farm, before, 'payload', { rule_type: 'regexp_request_body', config: { pattern: 'payload' } });
    const tomorrow = new Date(Date.now() + BODY_LIFETIME_MS + 60_000);
    await farm.sweepAll(tomorrow);
    await recheck(before);
    await work();
    const after = await farm.read(before._id);
    assert.deepEqual([after.status, slugsOf(after)], ['completed', ['autosound', 'last']]);
  });

  it('§3.8 emits the events of a first analysis, is metered separately, and is not charged', async () => {
    const before = await checked();
    for (const id of ['one', 'other']) {
      await recheck(before, id);
      await work();
    }
    await relayAll();
    const kinds = (await farm.eventsOf(before.organization_id)).map(({ kind }) => kind);
    const ofOneCheck = ['scanning.tags.detected', 'scanning.scan.completed'];
    assert.deepEqual(kinds, [...ofOneCheck, ...ofOneCheck, ...ofOneCheck]);
    assert.deepEqual(await farm.ledgerOf(before.organization_id), [[`charge:${before._id}`, -10_000]]);
    const metered = await farm.store.collection('rechecks').find({}).sort({ _id: 1 }).toArray();
    assert.deepEqual(
      metered.map(({ scan_id, organization_id }) => [scan_id, organization_id]),
      [1, 2].map(() => [before._id, before.organization_id]),
    );
    assert.equal((await farm.read(before._id)).outbox.length, 0);
    for (const [days, left] of [
      [61, 2],
      [63, 0],
    ] as const) {
      await farm.store.sweepExpired(new Date(Date.now() + days * 24 * HOUR_MS));
      assert.equal(await farm.store.collection('rechecks').countDocuments({}), left, `after ${days} days`);
    }
  });

  it('§6.4.21 has later events than the analysis before, also if the clock of that one was ahead', async () => {
    const scan = await crawledScan(farm);
    for (const aheadSeconds of [300, 120, 0]) {
      await checkCrawled(farm, new Date(Date.now() + aheadSeconds * 1_000));
      await recheck(scan);
    }
    const { outbox, status_at } = await farm.read(scan._id);
    const times = outbox.flatMap((entry) => (entry.kind === 'event' ? [entry.at.getTime()] : []));
    assert.equal(times.length, 6);
    assert.deepEqual(times, times.toSorted());
    assert.ok(times[0]! > Date.now() + 200_000 && status_at!.getTime() >= times.at(-1)!);
  });

  it('§3.8 is completed exactly once if a worker dies during it', async () => {
    const before = await checked();
    await recheck(before);
    const { dependencies } = farm.farm;
    const [rechecking] = await farm.scans.awaitingAnalysis(new Date(), 1);
    const claim = { type: 'claim_checks' as const, until: new Date(Date.now() - 1) };
    const dead = await changeScan(farm.scans, await farm.read(rechecking!._id), claim, new Date());
    assert.equal(dead!.status, 'checking');
    assert.equal(await recheck(before), 0, 'one that is being checked again is left as it is');
    assert.equal(await finishCrawled(dependencies, new Date()), 1);
    const after = await farm.read(before._id);
    assert.deepEqual([after.status, slugsOf(after)], ['completed', ['autosound']]);
    assert.equal(after.outbox.filter((entry) => entry.kind === 'event').length, 4);
  });

  it('§3.8 waits behind first analyses', async () => {
    const before = await checked();
    await recheck(before);
    const scan = await farm.submit();
    await farm.node.complete(await farm.acquireOne(), captureOf([PAGE]));
    assert.deepEqual(
      (await farm.scans.awaitingAnalysis(new Date(), 1)).map(({ _id }) => _id),
      [scan._id],
    );
    const both = await farm.scans.awaitingAnalysis(new Date(), 8);
    assert.deepEqual(new Set(both.map(({ _id }) => _id)), new Set([scan._id, before._id]));
  });

  it('§3.8 keeps its evidence until it is done', async () => {
    const before = await checked();
    await recheck(before);
    await relayAll();
    const until = new Date(before.completed_at!.getTime() + 1);
    assert.deepEqual(await farm.scans.endedUntil(until, 10), []);
    const [ended, ...others] = await farm.scans.endedWithEvidence(new Date(0), until, 10);
    assert.deepEqual([ended?._id, others], [before._id, []]);
    assert.equal(await farm.scans.beginRemoval(before, new Date()), false);
  });
});
