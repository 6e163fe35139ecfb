import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type EndpointRecord, newEndpoint } from '../../../src/delivery/webhooks/endpoint.ts';
import { type EndpointStore, endpointStore } from '../../../src/delivery/webhooks/endpoint-store.ts';
import { healthyFrom } from '../../../src/delivery/webhooks/health.ts';
import { warningOf } from '../../../src/delivery/webhooks/warn-users.ts';
import type { Serving } from '../../../src/platform/start-pool.ts';
import { openStore, type Store } from '../../../src/platform/store.ts';

const NOW = new Date('2026-03-01T10:00:00Z');
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const UNTIL = later(45);
const SETTINGS = { url: 'https://hooks.example.com/', description: '', event_types: [], campaign_ids: null };

let store: Store;
let endpoints: EndpointStore;
before(async () => {
  store = await openStore({ path: ':memory:' });
  endpoints = endpointStore(store);
  await endpoints.createIndexes();
});
after(() => store.close());
beforeEach(() => store.collection('webhook_endpoints').deleteMany({}));

const add = async (id: string, organization_id = 'ours'): Promise<EndpointRecord> =>
  endpoints.insertWithin(newEndpoint({ _id: id, organization_id, secret: 'sealed' }, SETTINGS, NOW), []);
const idsOf = (claimed: EndpointRecord[]) => claimed.map(({ _id }) => _id).sort();
const claim = async (now = NOW, until = UNTIL, serving: Serving = { each: 10, now: new Map() }) =>
  (await endpoints.claimDue(now, until, 10, serving)).claimed;

describe('claims of webhook endpoints', () => {
  test('§6.4.13 an endpoint without queued deliveries is not due; a queued one is claimed by one dispatcher', async () => {
    await add('idle');
    const { organization_id } = await add('busy');
    assert.deepEqual(await claim(later(1_000_000)), []);
    assert.equal(await endpoints.queued(organization_id, ['busy'], NOW), true);
    const claims = await Promise.all([claim(), claim(), claim()]);
    assert.deepEqual(idsOf(claims.flat()), ['busy']);
    assert.deepEqual(await claim(later(44)), [], 'while the claim holds');
  });

  test('§6.4.13 endpoints of an organization are claimed until as many of it are served as may be', async () => {
    for (const id of ['a', 'b', 'c']) await add(id);
    await add('theirs', 'theirs');
    await endpoints.queued('ours', ['a', 'b', 'c'], NOW);
    await endpoints.queued('theirs', ['theirs'], NOW);
    const claimed = await claim(NOW, UNTIL, { each: 3, now: new Map([['ours', 2]]) });
    assert.deepEqual(claimed.map(({ organization_id }) => organization_id).sort(), ['ours', 'theirs']);
    assert.deepEqual(await claim(NOW, UNTIL, { each: 3, now: new Map([['ours', 3]]) }), []);
    assert.equal((await claim(NOW, UNTIL, { each: 3, now: new Map([['ours', 1]]) })).length, 2);
  });

  test('§6.4.13 an endpoint is due at once for an event of a process whose clock is minutes ahead', async () => {
    await add('one');
    await endpoints.queued('ours', ['one'], later(300));
    assert.deepEqual(idsOf(await claim()), ['one']);
  });

  test('§6.4.13 deliveries are queued for endpoints of the organization alone', async () => {
    await add('theirs', 'theirs');
    assert.equal(await endpoints.queued('ours', ['theirs'], NOW), false);
    assert.deepEqual(await claim(), []);
  });

  test('§6.4.13 after its claim has expired another dispatcher takes over, and the first one can change nothing', async () => {
    await add('one');
    await endpoints.queued('ours', ['one'], NOW);
    const [first] = await claim();
    const [second] = await claim(later(46), later(90));
    assert.equal(second!.fence, first!.fence + 1);
    const failing = { ...healthyFrom([]), failing_since: NOW };
    const disabled = { reason: 'failing' as const, detail: '', at: NOW };
    assert.equal(await endpoints.setHealth(first!, failing, UNTIL), null);
    assert.equal(await endpoints.extend(first!, later(99)), null);
    assert.equal(await endpoints.switchOff(first!, disabled, warningOf(first!, 'switched_off', NOW)), false);
    assert.equal(await endpoints.release(first!, null), false);
    assert.deepEqual((await endpoints.setHealth(second!, failing, UNTIL))?.health, failing);
    assert.equal(await endpoints.countFailing(10), 1);
  });

  test('§6.4.13 a claim is not released over a delivery that was queued meanwhile', async () => {
    await add('one');
    await endpoints.queued('ours', ['one'], NOW);
    const [claimed] = await claim();
    assert.equal(await endpoints.queued('ours', ['one'], NOW), false, 'its dispatcher looks again');
    assert.equal(await endpoints.release(claimed!, null), false);
    const extended = (await endpoints.extend(claimed!, UNTIL))!;
    assert.equal(await endpoints.release(extended, null), true);
    assert.deepEqual(await claim(later(1_000_000)), []);
    assert.equal(await endpoints.queued('ours', ['one'], NOW), true);
  });

  test('§6.4.13 a failing endpoint is due when its pause ends, not when a delivery is queued', async () => {
    await add('one');
    await endpoints.queued('ours', ['one'], NOW);
    const [claimed] = await claim();
    assert.equal(await endpoints.release(claimed!, later(20)), true);
    assert.equal(await endpoints.queued('ours', ['one'], NOW), false);
    assert.deepEqual([idsOf(await claim(later(19))), idsOf(await claim(later(20)))], [[], ['one']]);
  });

  test('§6.4.5 results of deliveries that began before an endpoint started anew do not change its health', async () => {
    await add('one');
    await endpoints.queued('ours', ['one'], NOW);
    const [claimed] = await claim();
    await endpoints.change((await endpoints.find('ours', 'one'))!, { set: { epoch: 1 }, follows: [] });
    assert.equal(await endpoints.setHealth(claimed!, { ...healthyFrom([]), failing_since: NOW }, UNTIL), null);
    assert.equal((await endpoints.extend(claimed!, UNTIL))?.epoch, 1, 'the claim goes on');
  });

  test('§6.4.12 a switched-off endpoint is not claimed', async () => {
    await add('one');
    await endpoints.queued('ours', ['one'], NOW);
    const [claimed] = await claim();
    const warning = warningOf(claimed!, 'switched_off', NOW);
    assert.equal(await endpoints.switchOff(claimed!, { reason: 'failing', detail: 'x', at: NOW }, warning), true);
    assert.equal(await endpoints.queued('ours', ['one'], NOW), false);
    assert.deepEqual(await claim(later(100)), []);
    assert.deepEqual((await endpoints.find('ours', 'one'))?.disabled?.reason, 'failing');
  });
});
