import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { newId } from '@adsweep/shared/ids.ts';
import { Webhook } from 'standardwebhooks';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { until } from '../../../../shared/test/support/until.ts';
import {
  type DispatchParts,
  dispatchEvents,
  startDispatchingEvents,
} from '../../../src/delivery/webhooks/dispatch-events.ts';
import { createWakeSignal } from '../../../src/platform/wake-signal.ts';
import { startDouble } from '../../support/alert-doubles.ts';
import { type Json, ORGANIZATIONS } from '../../support/running-api.ts';
import { assertInOrder, HOUR, MINUTE, PATH, URL, WebhookWorld } from '../../support/webhook-world.ts';

/** `npm run chaos` drains 10,002 events. */
const DRAINED_SCANS = process.env.ADSWEEP_CHAOS === 'long' ? 3_334 : 100;

let world: WebhookWorld;
before(async () => {
  world = await WebhookWorld.open();
});
beforeEach(() => world.reset());
after(() => world.api.stop());

describe('deliveries to webhook endpoints', () => {
  test('§6.4.20 an event arrives signed, in its envelope, over real HTTP; both secrets sign during an overlap', async () => {
    const headers: Record<string, string>[] = [];
    const receiver = await startDouble(() => ({ status: 204 }));
    const post: DispatchParts['post'] = (request) => {
      headers.push(request.headers);
      return world.api.domains.delivery.dependencies.sending.post(request);
    };
    const { webhook, secret } = await world.create({ url: `${receiver.url}/hook` });
    await world.emitOf('scan-1', ['scanning.tags.detected']);
    while (await dispatchEvents({ ...world.parts, post }));
    const rotated = await world.api.post(`${PATH}/${webhook.id}/rotate-secret`, { overlap_hours: 1 });
    await world.emitOf('scan-2', ['scanning.scan.completed']);
    while (await dispatchEvents({ ...world.parts, post }));
    receiver.stop();

    const [first, second] = receiver.received;
    assert.deepEqual(Object.keys(first!.body), ['type', 'timestamp', 'data']);
    assert.equal(first!.body.type, 'scanning.tags.detected');
    assert.equal(first!.body.timestamp, new Date(world.now).toISOString());
    assert.deepEqual(first!.body.data.tag_slugs, ['autosound']);
    new Webhook(secret).verify(first!.text, headers[0]!);
    for (const one of [secret, rotated.body.secret]) new Webhook(one).verify(second!.text, headers[1]!);
    assert.throws(() => new Webhook(rotated.body.secret).verify(first!.text, headers[0]!));
  });

  test('§6.4.21 the events of a scan are sent in their order, each after the one before was taken; other scans go on', async () => {
    await world.create();
    world.reply = (_, { scanId, sequence }) => ({
      status: scanId === 'slow' && sequence === 1 && world.now === world.began ? 503 : 200,
    });
    await world.emitOf('slow');
    await world.emitOf('quick');
    await world.dispatch();
    assert.ok(!world.sent.some(({ scanId, sequence }) => scanId === 'slow' && sequence > 1));
    await world.pass(HOUR);
    assertInOrder(
      world.sent.filter(({ scanId, sequence, at }) => !(scanId === 'slow' && sequence === 1 && at === world.began)),
    );
    assert.deepEqual(new Set(world.sent.map(({ scanId, sequence }) => `${scanId} ${sequence}`)).size, 6);
  });

  test(`§6.4.25 ${3 * DRAINED_SCANS} buffered events drain: none lost, in order, four in flight at first and never more than 32`, async () => {
    const { webhook } = await world.create();
    world.reply = () => ({ status: 500 });
    await world.emit(DRAINED_SCANS);
    await world.dispatch();
    world.sent = [];
    let [inFlight, most] = [0, 0];
    const widths: number[] = [];
    world.reply = async () => {
      most = Math.max(most, ++inFlight);
      // Answered once no further request arrives.
      for (let seen = 0; seen < inFlight; await setTimeout(10)) seen = inFlight;
      widths.push(inFlight--);
      return { status: 200 };
    };
    await world.pass(HOUR);
    assert.equal(world.taken().length, 3 * DRAINED_SCANS);
    assertInOrder(world.taken());
    assert.equal(most, 32);
    assert.ok(widths.slice(0, 5).every((width) => width <= 4));
    assert.equal(await world.waiting(webhook.id), 0);
  });

  test('§6.4.6 what is changed while a batch is sent counts for every delivery that begins later', async () => {
    const { webhook } = await world.create();
    const path = `${PATH}/${webhook.id}`;
    const moved = 'https://moved.example.com/adsweep';
    const changes: [later: string[], change: () => Promise<unknown>][] = [
      [[moved], () => world.api.call('PATCH', path, { body: { url: moved } })],
      [[], () => world.api.call('DELETE', path)],
    ];
    for (const [later, change] of changes) {
      world.sent = [];
      await world.emit(5);
      let begun = 0;
      let changing: Promise<unknown> | undefined;
      world.reply = async () => {
        changing ??= change();
        await changing;
        begun ||= world.sent.length;
        return { status: 200 };
      };
      await world.dispatch();
      assert.equal(begun, 4);
      assert.deepEqual([...new Set(world.sent.slice(begun).map(({ url }) => url))], later);
    }
  });

  test('§6.4.26 archived tags are left out when an event is sent, and an event of which nothing is left is not sent', async () => {
    await world.create();
    const tag = {
      display_name: 'Mine',
      description: '',
      category: 'custom',
      severity: 'low',
      visibility: 'public',
    } as const;
    const own = { ...tag, slug: 'mine', organization_id: ORGANIZATIONS.ours, archived_at: new Date(world.now) };
    await world.api.tags.register([own as never], new Date(world.now));
    const tags = [{ slug: 'mine', category: 'custom', severity: 'low', url: '' }];
    await world.emitOf('all-archived', ['scanning.tags.detected'], { tag_slugs: ['mine'], tags });
    await world.emitOf('some-archived', ['scanning.tags.detected'], { tag_slugs: ['mine', 'autosound'], tags });
    const bodies: Json[] = [];
    world.reply = ({ body }) => {
      bodies.push(JSON.parse(String(body)).data);
      return { status: 200 };
    };
    await world.dispatch();
    assert.deepEqual(
      bodies.map(({ scan_id, tag_slugs, tags: shown }) => [scan_id, tag_slugs, shown]),
      [['some-archived', ['autosound'], []]],
    );
    const { items } = (await world.api.get(`${PATH}/events`)).body;
    assert.deepEqual(
      items.map(({ data }: Json) => data),
      bodies,
    );
  });

  test('§6.4.27 of dispatchers that are told to stop at random none loses an event, and what is repeated was in flight', async () => {
    const { webhook } = await world.create();
    await world.emit(60);
    const random = seededRandom(20_261_126);
    let ends = 0;
    while ((await world.waiting(webhook.id)) > 0 && ends < 50) {
      const stopping = new AbortController();
      let left = 1 + Math.floor(random() * 15);
      world.reply = async () => {
        if (--left === 0) stopping.abort(new Error('killed'));
        if (stopping.signal.aborted) throw stopping.signal.reason;
        return { status: 200 };
      };
      await dispatchEvents(world.parts, { signal: stopping.signal });
      ends += 1;
      world.now += 2 * MINUTE;
    }
    world.reply = () => ({ status: 200 });
    await world.dispatch();
    assert.equal(await world.waiting(webhook.id), 0);
    assert.equal(new Set(world.sent.map(({ eventId }) => eventId)).size, 180);
    assert.ok(
      ends >= 10 && world.sent.length - 180 <= ends * 32,
      `${world.sent.length - 180} repeated in ${ends} ends`,
    );
  });

  test('§6.4.27 what a dispatcher that stops was sending, another one sends at once', async () => {
    const { webhook } = await world.create();
    await world.emit(1);
    const stopping = new AbortController();
    world.reply = async () => {
      stopping.abort(new Error('the process stops'));
      throw stopping.signal.reason;
    };
    await dispatchEvents(world.parts, { signal: stopping.signal });
    world.reply = () => ({ status: 200 });
    await world.dispatch();
    assert.equal(await world.waiting(webhook.id), 0);
  });

  test('§6.4.28 two dispatchers at once send each event once', async () => {
    await world.create();
    await world.emit(40);
    await Promise.all([world.dispatch(), world.dispatch(), world.dispatch()]);
    await world.dispatch();
    assert.equal(world.sent.length, 120);
  });

  test('§6.4.29 a busy endpoint gives its place to others after ten seconds, if there is none left, and goes on in its next turn', async () => {
    const { webhook } = await world.create();
    world.reply = async () => {
      world.now += 1_000;
      if (world.sent.length < 30) await world.emitOf(newId(), ['scanning.scan.completed']);
      return { status: 200 };
    };
    await world.emitOf(newId(), ['scanning.scan.completed']);
    await dispatchEvents(world.parts, { isFull: () => true });
    assert.ok(world.sent.length < 20, `${world.sent.length} in one turn`);
    await dispatchEvents(world.parts, { isFull: () => false });
    assert.deepEqual([world.sent.length, await world.waiting(webhook.id)], [30, 0]);
  });

  test('§6.4.29 an endpoint that does not answer delays no other one', async () => {
    await world.create({ url: `${URL}/hangs` });
    await world.create();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.reply = async ({ url }) => {
      if (url.endsWith('/hangs')) await held;
      return { status: 200 };
    };
    const wake = createWakeSignal();
    const loop = startDispatchingEvents({ ...world.parts, clock: () => new Date() }, wake);
    for (let at = 1; at <= 3; at++) {
      await world.emit(1);
      wake.raise();
      await until('the other endpoint has it', () => world.taken().length === 3 * at);
    }
    release();
    await loop.stop();
  });
});
