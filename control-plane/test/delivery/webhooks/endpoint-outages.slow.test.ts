import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { Registry } from 'prom-client';
import { measureWebhooks } from '../../../src/delivery/webhooks/measure-webhooks.ts';
import { replayAttempt, replayRange } from '../../../src/delivery/webhooks/replay-events.ts';
import { workMetrics } from '../../../src/metrics.ts';
import { ORGANIZATIONS } from '../../support/running-api.ts';
import { HOUR, MINUTE, PATH, URL, WebhookWorld } from '../../support/webhook-world.ts';

let world: WebhookWorld;
before(async () => {
  world = await WebhookWorld.open();
});
beforeEach(() => world.reset());
after(() => world.api.stop());

describe('the outage of a webhook endpoint', () => {
  test('§6.4.22 a failing endpoint gets its oldest event alone, after growing pauses; one success makes all due', async () => {
    const { webhook } = await world.create();
    await world.emit(3);
    world.reply = () => ({ status: 410 });
    await world.dispatch();
    const firstGroup = world.sent.length;
    assert.ok(firstGroup <= 4);
    await world.pass(HOUR / 2);
    const probes = world.sent.slice(firstGroup);
    assert.ok(probes.length >= 2 && new Set(probes.map(({ eventId }) => eventId)).size === 1, 'the oldest alone');
    const failing = await world.read(webhook.id);
    assert.equal(failing.failing_since, new Date(world.began).toISOString());
    assert.ok(Date.parse(failing.paused_until) > world.now);
    world.reply = () => ({ status: 200 });
    await world.pass(HOUR);
    const { failing_since, health } = await world.read(webhook.id);
    assert.deepEqual([failing_since, health.consecutive_failures], [null, 0]);
    assert.equal(await world.waiting(webhook.id), 0);
  });

  test('§6.4.22 an event that comes once nothing waits for a failing endpoint any more is sent when its pause ends', async () => {
    const { webhook } = await world.create();
    await world.emitOf(newId(), ['scanning.tags.detected']);
    world.reply = () => ({ status: 500 });
    await world.dispatch();
    const change = { event_types: ['scanning.scan.completed'] };
    assert.equal((await world.api.call('PATCH', `${PATH}/${webhook.id}`, { body: change })).status, 200);
    await world.pass(10 * MINUTE);
    assert.equal(await world.waiting(webhook.id), 0, 'it is not wanted any more');
    [world.sent, world.reply] = [[], () => ({ status: 200 })];
    await world.emitOf(newId(), ['scanning.scan.completed']);
    await world.pass(5 * MINUTE);
    assert.equal(world.taken().length, 1);
  });

  test('§6.4.23 down for 1 h and 23 h: a warning after the first hour, then everything is delivered', async () => {
    for (const hours of [1, 23]) {
      [world.began, world.sent, world.mails] = [world.now, [], []];
      const { webhook } = await world.create({ url: `${URL}/${hours}` });
      world.reply = () => ({ status: 500 });
      await world.emit(5);
      await world.pass(hours * HOUR + 20 * MINUTE);
      assert.deepEqual(world.mails, ['Webhook failing: hooks.example.com after 1 h']);
      world.reply = () => ({ status: 200 });
      await world.pass(HOUR + 10 * MINUTE);
      assert.equal(await world.waiting(webhook.id), 0, `${hours} h`);
      assert.equal((await world.read(webhook.id)).is_active, true);
      await world.api.call('DELETE', `${PATH}/${webhook.id}`);
    }
  });

  test('§6.4.24 down for 25 h: switched off after 24 with a mail; started anew it gets what is younger, and a range on replay', async () => {
    const { webhook } = await world.create();
    world.reply = () => ({ status: 500 });
    await world.emit(2);
    await world.pass(20 * HOUR);
    await world.emit(1);
    await world.pass(5 * HOUR);
    assert.deepEqual(world.mails, [
      'Webhook failing: hooks.example.com after 1 h',
      'Webhook switched off: hooks.example.com after 24 h',
    ]);
    const off = await world.read(webhook.id);
    assert.deepEqual([off.is_active, off.disabled_reason], [false, 'failing']);
    world.sent = [];
    world.reply = () => ({ status: 200 });
    await world.api.call('PATCH', `${PATH}/${webhook.id}`, { body: { is_active: true } });
    await world.pass(HOUR);
    assert.equal(world.taken().length, 3, 'what is younger than 24 hours');
    const { endpoints, deliveries, events } = world.api.domains.delivery.stores;
    const endpoint = await endpoints.find(ORGANIZATIONS.ours, webhook.id);
    const range: [Date, Date] = [new Date(world.began - 1), new Date(world.now)];
    const replayed = await replayRange(
      { endpoints, deliveries, events, queued() {} },
      endpoint!,
      range,
      new Date(world.now),
    );
    assert.deepEqual(replayed, { replayed: 6, skipped: 3 });
    await world.pass(HOUR);
    assert.equal(world.taken().length, 9);
  });

  test('§6.4.22 an event that occurred in a pause, and is queued after it when nothing else waits, is sent at once', async () => {
    const { webhook } = await world.create();
    // The time of the relay is that of this process.
    world.now -= 5 * MINUTE;
    world.reply = () => ({ status: 500 });
    await world.emit(1);
    await world.dispatch();
    await world.api.store.collection('webhook_deliveries').updateMany({}, { $set: { state: 'dropped' } });
    const occurred = world.now + 1_000;
    world.now += MINUTE;
    await world.dispatch();
    const looked = world.now;
    world.now = occurred;
    await world.emitOf('late', ['scanning.scan.completed']);
    world.now = looked;
    world.reply = () => ({ status: 200 });
    await world.dispatch();
    assert.equal(await world.waiting(webhook.id), 0);
  });

  test('§6.4.33 a warning that cannot be mailed is tried again for a day; one that the mail server refuses is given up', async () => {
    const { webhook } = await world.create();
    world.reply = () => ({ status: 500 });
    await world.emit(1);
    await world.pass(55 * MINUTE);
    world.now += 11 * MINUTE;
    await world.dispatch();
    const failed = { sent: false, status: null, isPermanent: false, reason: 'no mail server', cause: null } as const;
    for (let at = 0; at < 30 * 60; at += 1) {
      await world.mail(failed);
      world.now += MINUTE;
    }
    assert.ok(world.mails.length >= 24 && world.mails.length <= 35, `${world.mails.length} tries`);
    world.mails = [];
    await world.dispatch();
    await world.mail({ ...failed, status: 550, isPermanent: true });
    world.now += HOUR;
    await world.mail();
    assert.equal(world.mails.length, 1, 'that it was switched off');
    assert.equal((await world.read(webhook.id)).is_active, false);
  });

  test('§6.4.34 the metrics count tries by outcome, what waits by its age, failing endpoints, and the lateness of what was taken', async () => {
    const metrics = workMetrics(new Registry());
    world.parts.metrics = metrics;
    await world.create();
    await world.create({ url: `${URL}/good`, event_types: ['scanning.scan.completed'] });
    world.reply = ({ url }) => ({ status: url.endsWith('good') ? 200 : 500 });
    await world.emit(1);
    await world.dispatch();
    world.now += 2 * HOUR;
    await world.emitOf(newId(), ['scanning.tags.detected']);
    await measureWebhooks({ ...world.api.domains.delivery.stores, metrics }, new Date(world.now));
    const { values } = await metrics.webhookBacklog.get();
    const byAge = Object.fromEntries(values.map(({ labels, value }) => [labels.age, value]));
    assert.deepEqual(byAge, { '1m': 1, '1h': 0, '6h': 3, '24h': 0 });
    assert.equal((await metrics.failingEndpoints.get()).values[0]?.value, 1);
    const outcomes = (await metrics.webhookDeliveries.get()).values.map(({ labels }) => labels.outcome);
    assert.deepEqual(outcomes.toSorted(), ['delivered', 'dropped', 'expired', 'failed']);
  });

  test('§6.4.34 a delivery that was replayed is as late as it comes after its replay: its event may be days old', async () => {
    const metrics = workMetrics(new Registry());
    world.parts.metrics = metrics;
    const { webhook } = await world.create({ event_types: ['scanning.scan.completed'] });
    await world.emit(1);
    await world.dispatch();
    world.now += 48 * HOUR;
    const { endpoints, deliveries, events } = world.api.domains.delivery.stores;
    const of = { organization_id: ORGANIZATIONS.ours, endpoint_id: webhook.id };
    const [attempt] = (await deliveries.log(of, {}, { skip: 0, limit: 1 })).rows;
    const parts = { endpoints, deliveries, events, queued() {} };
    assert.ok(await replayAttempt(parts, ORGANIZATIONS.ours, attempt!._id, new Date(world.now)));
    world.now += MINUTE / 2;
    await world.dispatch();
    const { values } = await metrics.webhookLateness.get();
    const sumOf = (suffix: string) => values.find(({ metricName }) => metricName?.endsWith(suffix))?.value;
    assert.deepEqual([sumOf('_count'), sumOf('_sum')], [2, 30]);
  });
});
