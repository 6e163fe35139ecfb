import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { slow } from '../../../../shared/test/support/slow.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { measureOutboxes, type RelayDependencies, relay, startRelay } from '../../../src/delivery/outbox/relay.ts';
import type { OutboxEntry } from '../../../src/platform/outbox/outbox-entry.ts';
import { initialOutbox, type OutboxSource } from '../../../src/platform/outbox/outbox-source.ts';
import { createWakeSignal } from '../../../src/platform/wake-signal.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { checkCrawled, crawledScan, followUpsOf } from '../../support/checked-scans.ts';
import { PRICE_MICROS } from '../../support/open-plane.ts';
import { type RunningFarm, runningFarm } from '../../support/running-farm.ts';

const TAGS = 'scanning.tags.detected';
const COMPLETED = 'scanning.scan.completed';
const LONG_MS = 60_000;
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000);

describe('the outbox relay', () => {
  let farm: RunningFarm;
  before(async () => {
    farm = await runningFarm();
  });
  after(() => farm.stop());

  const dependencies = (): RelayDependencies => farm.farm.dependencies;

  /** A finished scan with its charge and two events in its outbox. */
  async function finished(): Promise<ScanRecord> {
    const scan = await crawledScan(farm);
    await checkCrawled(farm);
    return farm.read(scan._id);
  }

  /** Fails the entries that `fails` picks; `order` lists what was carried out. */
  function failing(fails: (entry: OutboxEntry, scanId: string) => boolean) {
    const order: string[] = [];
    const real = dependencies().handlers;
    const event: typeof real.event = async (entry, origin) => {
      if (fails(entry, origin.scanId)) throw new Error('not now');
      order.push(`${origin.scanId} ${entry.event}`);
      await real.event(entry, origin);
    };
    return { order, dependencies: { ...dependencies(), handlers: { ...real, event } } };
  }

  const recorded = async ({ organization_id, _id }: ScanRecord) => ({
    charges: await farm.ledgerOf(organization_id),
    events: (await farm.events.ofScan(organization_id, _id)).map(({ sequence, kind }) => `${sequence} ${kind}`),
  });
  const whole = ({ _id }: ScanRecord) => ({
    charges: [[`charge:${_id}`, -PRICE_MICROS]],
    events: [`1 ${TAGS}`, `2 ${COMPLETED}`],
  });

  it('carries each entry out once, even if a relay dies between carrying it out and removing it', slow, async () => {
    const scan = await finished();
    const outbox: OutboxSource = { ...farm.scans.outbox, finish: () => Promise.reject(new Error('killed')) };
    await assert.rejects(relay({ ...dependencies(), sources: [outbox] }, new Date()));
    assert.equal((await farm.read(scan._id)).outbox.length, 3);
    assert.equal((await relay(dependencies(), new Date())).entries, 0, 'the claim still stands');

    const later = inSeconds(20);
    await Promise.all([relay(dependencies(), later), relay(dependencies(), later)]);
    assert.deepEqual(await recorded(scan), whole(scan));
    const left = Object.entries(await farm.read(scan._id)).filter(([name]) => name.startsWith('outbox'));
    assert.deepEqual(left, [['outbox', []]]);
    assert.equal((await relay(dependencies(), later)).entries, 0);
  });

  it('shares records among relays, each carried out by one of them', async () => {
    const scans = await Promise.all([finished(), finished(), finished()]);
    const relays = [1, 2, 3, 4].map(() => failing(() => false));
    await Promise.all(relays.map((one) => relay(one.dependencies, new Date())));
    const carriedOut = relays.flatMap(({ order }) => order).sort();
    assert.deepEqual(carriedOut, scans.flatMap(({ _id }) => [`${_id} ${COMPLETED}`, `${_id} ${TAGS}`]).sort());
  });

  it('keeps the order within a record: entries after a failed one wait, those of other records do not', async () => {
    const [stuck, other] = [await finished(), await finished()];
    const some = failing((entry, scanId) => scanId === stuck._id && entry.kind === 'event' && entry.event === TAGS);
    await relay(some.dependencies, new Date());
    assert.deepEqual(some.order, [`${other._id} ${TAGS}`, `${other._id} ${COMPLETED}`]);
    assert.deepEqual(followUpsOf(await farm.read(stuck._id)), [TAGS, COMPLETED], 'its charge is booked and gone');
    await relay(dependencies(), inSeconds(20));
    assert.deepEqual(await recorded(stuck).then(({ events }) => events), whole(stuck).events);
  });

  it('waits longer after each failure of a record', async () => {
    const scan = await finished();
    const none = failing(({ kind }) => kind === 'event').dependencies;
    const waits: number[] = [];
    for (let now = new Date(), turn = 0; turn < 4; turn += 1) {
      await relay(none, now);
      const due = (await farm.read(scan._id)).outbox_due_at as Date;
      waits.push(due.getTime() - now.getTime());
      now = due;
    }
    const least = [500, 1_000, 2_000, 4_000];
    assert.ok(
      waits.every((wait, turn) => wait >= least[turn]! && wait <= 2 * least[turn]!),
      waits.join(),
    );
    await relay(dependencies(), inSeconds(3_600));
    assert.deepEqual((await farm.read(scan._id)).outbox, []);
  });

  it('carries out at once what a process wrote whose clock is minutes ahead', async () => {
    const entry = (kind: 'charge' | 'refund') => ({ id: `${kind}:ahead`, kind, at: inSeconds(300), amount_micros: 1 });
    const created = initialOutbox('ahead', [entry('charge')]);
    const scan = await farm.submit({ organization_id: 'ahead', status: 'cancelled', ...created });
    await relay(dependencies(), new Date());
    assert.deepEqual((await farm.read(scan._id)).outbox, []);
    await farm.scans.apply(scan, { when: { status: 'cancelled' }, set: {}, follows: [entry('refund')] });
    await relay(dependencies(), new Date());
    assert.deepEqual((await farm.read(scan._id)).outbox, []);
    assert.equal((await farm.ledgerOf('ahead')).length, 2);
  });

  it('retries a failed entry when it is due, without a wake-up hint', async () => {
    const scan = await finished();
    let failures = 0;
    const once = failing((_, scanId) => scanId === scan._id && failures++ === 0);
    const signal = createWakeSignal();
    const toldAlone = { ...signal, wait: (_ms: number, stop?: AbortSignal) => signal.wait(LONG_MS, stop) };
    const loop = startRelay(once.dependencies, toldAlone);
    try {
      await until('its outbox to be empty', async () => (await farm.read(scan._id)).outbox.length === 0, LONG_MS);
    } finally {
      await loop.stop();
    }
    assert.deepEqual(await recorded(scan), whole(scan));
  });

  it('keeps entries that are added while it works on their record', async () => {
    const scan = await finished();
    const entry = { id: 'late', kind: 'refund' as const, at: new Date(), amount_micros: 1 };
    const real = dependencies().handlers;
    const event: typeof real.event = async (one, origin) => {
      await real.event(one, origin);
      if (one.event !== COMPLETED) return;
      const change = { when: { status: 'completed' as const }, set: {}, follows: [entry] };
      await farm.scans.apply(scan, change);
    };
    await relay({ ...dependencies(), handlers: { ...real, event } }, new Date());
    assert.deepEqual(followUpsOf(await farm.read(scan._id)), ['refund']);
    await relay(dependencies(), inSeconds(1));
    assert.deepEqual((await farm.read(scan._id)).outbox, []);
  });

  it('carries out what one organization has due in turns with what another one has had due for longer', async () => {
    const due = (organization_id: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => farm.submit({ organization_id, status: 'cancelled' })));
    await due('greedy', 250);
    const last = await due('modest', 3);
    await relay(dependencies(), new Date());
    for (const { _id } of last) assert.deepEqual((await farm.read(_id)).outbox, [], 'the first step carries it out');
    const waiting = () =>
      farm.store.collection('scans').countDocuments({ organization_id: 'greedy', outbox_of: 'greedy' });
    assert.equal(await waiting(), 250 - 47, 'the other places are those of the first one');
    while ((await relay(dependencies(), new Date())).hasMore);
    assert.equal(await waiting(), 0);
    assert.equal((await farm.ledgerOf('modest')).length, 3);
  });

  it('reports how many records wait and since when', async () => {
    const scan = await finished();
    await measureOutboxes(dependencies(), new Date(scan.created_at.getTime() + 90_000));
    assert.equal(await farm.value('adsweep_outbox_records', { source: 'scans' }), 1);
    assert.equal(await farm.value('adsweep_outbox_oldest_seconds', { source: 'scans' }), 90);
    await relay(dependencies(), new Date());
    await measureOutboxes(dependencies(), new Date());
    assert.equal(await farm.value('adsweep_outbox_records', { source: 'scans' }), 0);
    assert.equal(await farm.value('adsweep_outbox_oldest_seconds', { source: 'scans' }), 0);
  });

  it('§6.3 lets events expire after seven days', async () => {
    const scan = await finished();
    await relay(dependencies(), new Date());
    const days = (count: number) => inSeconds(count * 24 * 60 * 60);
    const sweepAll = async (now: Date) => {
      while ((await farm.store.sweepExpired(now)) > 0);
    };
    await sweepAll(days(6.9));
    assert.equal((await recorded(scan)).events.length, 2);
    await sweepAll(days(7.1));
    assert.equal((await recorded(scan)).events.length, 0);
  });
});
