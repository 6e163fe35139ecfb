import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { EgressError } from '@adsweep/shared/egress/egress-error.ts';
import { sampleBody } from '../../../src/delivery/webhooks/event-types.ts';
import { replayRange } from '../../../src/delivery/webhooks/replay-events.ts';
import { startDouble } from '../../support/alert-doubles.ts';
import { type Json, KEYS, ORGANIZATIONS } from '../../support/running-api.ts';
import { assertInOrder, DAY, HOUR, KINDS, MINUTE, PATH, WebhookWorld } from '../../support/webhook-world.ts';

let world: WebhookWorld;
before(async () => {
  world = await WebhookWorld.open();
});
beforeEach(() => world.reset());
after(() => world.api.stop());

describe('the log of deliveries', () => {
  test('§6.4.30 the log has each try with its answer, and is filtered; a delivery is replayed whatever became of it', async () => {
    const { webhook } = await world.create({ event_types: ['scanning.scan.completed'] });
    await world.emitOf('scan-1');
    world.reply = () => ({ status: 500, body: 'no' });
    await world.dispatch();
    world.reply = async () => {
      throw new EgressError('connect', 'no connection');
    };
    await world.pass(10 * MINUTE);
    world.reply = () => ({ status: 200 });
    await world.pass(HOUR);
    const log = async (query = '') => (await world.api.get(`${PATH}/${webhook.id}/deliveries${query}`)).body;
    const { items, total } = await log();
    assert.equal(total, items.length);
    const [last, first] = [items.at(0), items.at(-1)];
    assert.deepEqual([last.success, last.response_status, last.error_code], [true, 200, null]);
    assert.deepEqual(
      [first.response_status, first.response_body, first.error_code, first.attempt_number],
      [500, 'no', 'status', 1],
    );
    assert.ok(items.some((one: Json) => one.response_status === null && one.error_code === 'connect'));
    assert.equal((await log('?success=true')).total, 1);
    assert.equal((await log(`?to_ts=${new Date(world.began).toISOString()}`)).total, 0);
    assert.equal((await world.api.get(`${PATH}/${webhook.id}/deliveries`, { key: KEYS.theirs })).status, 404);

    world.sent = [];
    const replay = (key = KEYS.ours) => world.api.post(`${PATH}/deliveries/${last.id}/replay`, undefined, { key });
    assert.equal((await replay(KEYS.theirs)).status, 404);
    assert.equal((await replay()).status, 204);
    await world.dispatch();
    assert.deepEqual(
      world.sent.map(({ eventId }) => eventId),
      [last.event_id],
    );
  });

  test('§6.4.30 a delivery whose event is not kept any more, or whose endpoint was deleted, is not replayed', async () => {
    const { webhook } = await world.create({ event_types: ['scanning.scan.completed'] });
    for (const scan of ['scan-1', 'scan-2']) await world.emitOf(scan);
    await world.dispatch();
    const { api } = world;
    const tries = (await api.get(`${PATH}/${webhook.id}/deliveries`)).body.items;
    const replay = async (at: number) => (await api.post(`${PATH}/deliveries/${tries[at].id}/replay`)).status;
    await api.store.collection<{ event_id: string }>('webhook_deliveries').deleteOne({ event_id: tries[0].event_id });
    assert.deepEqual([await replay(0), await replay(1)], [404, 204]);
    assert.equal((await api.call('DELETE', `${PATH}/${webhook.id}`)).status, 204);
    assert.equal(await replay(1), 404);
  });

  test('§6.4.31 a test shot sends a sample once, returns what came back, and counts for nothing', async () => {
    const receiver = await startDouble(() => ({ status: 418, body: 'a teapot' }));
    const { webhook } = await world.create({ url: receiver.url });
    const { body } = await world.api.post(`${PATH}/${webhook.id}/test`, { event_type: 'scanning.scan.completed' });
    receiver.stop();
    const { elapsed_ms, ...others } = body;
    assert.deepEqual(others, { success: false, response_status: 418, error_code: 'status', response_body: 'a teapot' });
    assert.ok(Number.isInteger(elapsed_ms));
    assert.deepEqual(receiver.received[0]!.body, sampleBody('scanning.scan.completed'));
    assert.equal((await world.read(webhook.id)).health.last_delivery_at, null);
    assert.equal((await world.api.get(`${PATH}/${webhook.id}/deliveries`)).body.total, 0);
    const stored = world.api.store.collection<{ _id: string }>('webhook_endpoints');
    await stored.updateOne({ _id: webhook.id }, { $set: { secret: 'of another key' } });
    const unread = await world.api.post(`${PATH}/${webhook.id}/test`, { event_type: 'scanning.scan.completed' });
    assert.partialDeepStrictEqual(unread.body, { success: false, response_status: null, error_code: 'secret' });
  });

  test('§6.4.32 events are replayable until day 7', async () => {
    const { webhook } = await world.create();
    await world.api.call('PATCH', `${PATH}/${webhook.id}`, { body: { is_active: false } });
    const old = world.now;
    for (const days of [6, 8]) {
      world.now = old - days * DAY;
      await world.emitOf(`of day ${days}`, ['scanning.scan.completed']);
    }
    world.now = old;
    const range = { from_ts: new Date(world.now - 9 * DAY).toISOString(), to_ts: new Date(world.now).toISOString() };
    assert.deepEqual((await world.api.post(`${PATH}/${webhook.id}/replay`, range)).body, { replayed: 1, skipped: 0 });
  });

  test('§6.4.32 a range that is replayed in part, because the process ends, is sent in that part', async () => {
    const { webhook } = await world.create();
    await world.emitOf('scan-1');
    await world.dispatch();
    const { endpoints, deliveries, events } = world.api.domains.delivery.stores;
    await world.api.store.collection('webhook_deliveries').updateMany({}, { $set: { state: 'expired' } });
    const between: typeof events.between = async (of, range, after, limit) => {
      if (after) throw new Error('the process ends');
      const part = await events.between(of, range, after, limit);
      return Array.from({ length: limit }, (_, at) => part[at % part.length]!);
    };
    world.sent = [];
    const endpoint = (await endpoints.find(ORGANIZATIONS.ours, webhook.id))!;
    const range: [Date, Date] = [new Date(world.began - HOUR), new Date(world.now + HOUR)];
    const replaying = replayRange(
      { endpoints, deliveries, events: { ...events, between }, queued() {} },
      endpoint,
      range,
      new Date(world.now + 1),
    );
    await assert.rejects(replaying, /the process ends/);
    world.now += 1;
    await world.dispatch();
    assert.equal(world.sent.length, KINDS.length);
  });

  test('§6.4.21 an event that is replayed while its endpoint fails is sent before the later events of its scan that wait', async () => {
    const sequenceOf = (kind: (typeof KINDS)[number]) => sampleBody(kind).data.sequence;
    const [first, ...later] = KINDS.toSorted((one, other) => sequenceOf(one) - sequenceOf(other));
    const at = (minutes: number) => new Date(world.began + minutes * MINUTE).toISOString();
    const range = (of: string) => world.api.post(`${PATH}/${of}/replay`, { from_ts: at(-40), to_ts: at(-20) });
    const ofTry = async (of: string) => {
      const { items } = (await world.api.get(`${PATH}/${of}/deliveries`)).body;
      return world.api.post(`${PATH}/deliveries/${items.at(-1).id}/replay`);
    };
    for (const replay of [range, ofTry]) {
      await world.reset();
      const { webhook } = await world.create();
      world.reply = () => ({ status: 500 });
      world.now = world.began - 30 * MINUTE;
      await world.emitOf('scan-1', [first!]);
      world.now = world.began - 10 * MINUTE;
      await world.emitOf('scan-1', later);
      world.now = world.began;
      await world.dispatch();
      const { status } = await replay(webhook.id);
      assert.ok([200, 204].includes(status));
      [world.sent, world.reply] = [[], () => ({ status: 200 })];
      await world.pass(HOUR);
      assertInOrder(world.sent);
      assert.equal(world.sent.length, KINDS.length);
    }
  });

  test('§6.4.36 events are listed newest first with the bodies of their deliveries, without an endpoint and to their organization alone', async () => {
    await world.emitOf('scan-1');
    const { items, total } = (await world.api.get(`${PATH}/events`)).body;
    assert.equal(total, KINDS.length);
    const { id, ...body } = items[0];
    assert.deepEqual(Object.keys(body), ['type', 'timestamp', 'data', 'deliveries']);
    assert.deepEqual([typeof id, body.data.scan_id], ['string', 'scan-1']);
    const at = (field: string, moment: number) => `${PATH}/events?${field}=${new Date(moment).toISOString()}`;
    assert.equal((await world.api.get(at('from_ts', world.now + 1))).body.total, 0);
    assert.equal((await world.api.get(at('to_ts', world.now))).body.total, 0);
    assert.equal((await world.api.get(at('from_ts', world.now))).body.total, KINDS.length);
    assert.equal((await world.api.get(`${PATH}/events`, { key: KEYS.theirs })).body.total, 0);
    assert.equal(
      (await world.api.get(`${PATH}/events`, { key: await world.api.keyThatMay('scans.read') })).status,
      403,
    );
  });

  test('§6.4.38 the events of a scan are listed with what became of them at each endpoint that wanted them', async () => {
    const { webhook: all } = await world.create();
    const { webhook: completed } = await world.create({ event_types: ['scanning.scan.completed'] });
    await world.emitOf('scan-1');
    await world.emitOf('scan-2');
    await world.dispatch();
    const { items, total } = (await world.api.get(`${PATH}/events?scan_id=scan-1`)).body;
    assert.equal(total, KINDS.length);
    assert.deepEqual(new Set(items.map(({ data }: Json) => data.scan_id)), new Set(['scan-1']));
    const delivered = (endpoint_id: string) => ({ endpoint_id, state: 'delivered', attempts: 1 });
    for (const { type, deliveries } of items) {
      const wanting = type === 'scanning.scan.completed' ? [all.id, completed.id] : [all.id];
      assert.deepEqual(
        new Set(deliveries.map(JSON.stringify)),
        new Set(wanting.map((id) => JSON.stringify(delivered(id)))),
      );
    }
    assert.equal((await world.api.get(`${PATH}/events?scan_id=scan-1`, { key: KEYS.theirs })).body.total, 0);
  });

  test('§6.4.38 an event that is tried no more because its day is over has expired, also where its endpoint is paused', async () => {
    const { webhook } = await world.create({ event_types: ['scanning.scan.completed'] });
    await world.api.call('PATCH', `${PATH}/${webhook.id}`, { body: { is_active: false } });
    const statesOf = async (scan: string) =>
      (await world.api.get(`${PATH}/events?scan_id=${scan}`)).body.items.flatMap(({ deliveries }: Json) =>
        deliveries.map(({ state }: Json) => state),
      );
    await world.emitOf('scan-young');
    world.now -= 25 * HOUR;
    await world.emitOf('scan-old');
    assert.deepEqual([await statesOf('scan-young'), await statesOf('scan-old')], [['waiting'], ['expired']]);
  });
});
