import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { EgressError } from '@adsweep/shared/egress/egress-error.ts';
import type { GuardedAnswer, GuardedRequest } from '@adsweep/shared/egress/guarded-post.ts';
import type { EventKind } from '@adsweep/shared/events/event-kinds.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { Registry } from 'prom-client';
import { Webhook } from 'standardwebhooks';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { until } from '../../../../shared/test/support/until.ts';
import {
  type DispatchParts,
  dispatchEvents,
  startDispatchingEvents,
} from '../../../src/delivery/webhooks/dispatch-events.ts';
import { EVENT_TYPES, sampleBody } from '../../../src/delivery/webhooks/event-types.ts';
import { measureWebhooks } from '../../../src/delivery/webhooks/measure-webhooks.ts';
import { replayRange } from '../../../src/delivery/webhooks/replay-events.ts';
import { mailNextWarning } from '../../../src/delivery/webhooks/warn-users.ts';
import { workMetrics } from '../../../src/metrics.ts';
import type { Mail, MailOutcome } from '../../../src/platform/mail.ts';
import type { OutboxEntry } from '../../../src/platform/outbox/outbox-entry.ts';
import { createWakeSignal } from '../../../src/platform/wake-signal.ts';
import { startDouble } from '../../support/alert-doubles.ts';
import { type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const PATH = '/api/v1/webhooks';
const URL = 'https://hooks.example.com/adsweep';
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const KINDS: EventKind[] = EVENT_TYPES.map(({ kind }) => kind);

/** `npm run chaos` drains 10,002 events. */
const DRAINED_SCANS = process.env.ADSWEEP_CHAOS === 'long' ? 3_334 : 100;

type Sent = { url: string; eventId: string; scanId: string; sequence: number; at: number };

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
after(() => api.stop());

/** The time of the dispatchers; what is emitted occurs then. */
let now: number;
let sent: Sent[];
let mails: string[];
/** What endpoints answer. */
let reply: (request: GuardedRequest, of: Sent) => Partial<GuardedAnswer> | Promise<Partial<GuardedAnswer>>;
let parts: DispatchParts;
beforeEach(async () => {
  for (const name of ['webhook_endpoints', 'webhook_deliveries', 'webhook_attempts', 'events'])
    await api.store.collection(name).deleteMany({});
  now = Date.now();
  [sent, mails] = [[], []];
  reply = () => ({ status: 200 });
  parts = {
    ...api.domains.delivery.dependencies.sending,
    clock: () => new Date(now),
    post: async (request) => {
      const { data } = JSON.parse(String(request.body));
      const of = {
        url: request.url,
        eventId: request.headers['webhook-id']!,
        scanId: data.scan_id,
        sequence: data.sequence,
        at: now,
      };
      sent.push(of);
      return { status: 500, body: '', retryAfter: null, elapsedMs: 1, ...(await reply(request, of)) };
    },
  };
  began = now;
});
let began: number;

const create = async (change: object = {}): Promise<{ webhook: Json; secret: string }> => {
  const answer = await api.post(PATH, { url: URL, ...change });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const read = async (id: string): Promise<Json> => (await api.get(`${PATH}/${id}`)).body;

/** Emits events of a scan, as the relay does. */
async function emitOf(scanId: string, kinds: EventKind[] = KINDS, change: object = {}): Promise<void> {
  for (const event of kinds) {
    const { sequence, ...sample } = sampleBody(event).data;
    const payload = { ...sample, scan_id: scanId, ...change };
    const entry = { id: newId(), kind: 'event', at: new Date(now), event, payload, sequence } as OutboxEntry<'event'>;
    const origin = { organizationId: ORGANIZATIONS.ours, scanId, campaignId: null };
    await api.domains.delivery.outboxHandlers.event(entry, origin);
  }
}
const emit = async (scans: number): Promise<void> => {
  for (let at = 0; at < scans; at++) await emitOf(newId());
};
const dispatch = async (): Promise<void> => {
  while (await dispatchEvents(parts));
};
/** Mails what is due; the mail server says `answer` each time. */
async function mail(answer: MailOutcome = { sent: true, status: 250 }): Promise<void> {
  const send = async ({ subject }: Mail) => {
    mails.push(`${subject} after ${Math.round((now - began) / HOUR)} h`);
    return answer;
  };
  const { endpoints } = api.domains.delivery.stores;
  const warning = { endpoints, mailer: { send }, contactEmailsOf: async () => ['a@b.example'], logger: parts.logger };
  while (await mailNextWarning(warning, new Date(now)));
}
/** Lets time pass; the dispatcher looks every five minutes. */
async function pass(ms: number): Promise<void> {
  for (const end = now + ms; now < end; ) {
    now = Math.min(end, now + 5 * MINUTE);
    await dispatch();
    await mail();
  }
}
const taken = () => sent.filter(({ url }) => url === URL);

/** Whether the events of each scan were sent in their order; those that were sent again in between do not count. */
function assertInOrder(delivered: Sent[]): void {
  const last = new Map<string, number>();
  for (const { scanId, sequence } of delivered) {
    assert.ok(sequence > (last.get(scanId) ?? 0), `${scanId}: ${sequence} after ${last.get(scanId)}`);
    last.set(scanId, sequence);
  }
}

describe('deliveries to webhook endpoints', () => {
  test('§6.4.20 an event arrives signed, in its envelope, over real HTTP; both secrets sign during an overlap', async () => {
    const headers: Record<string, string>[] = [];
    const receiver = await startDouble(() => ({ status: 204 }));
    const post: DispatchParts['post'] = (request) => {
      headers.push(request.headers);
      return api.domains.delivery.dependencies.sending.post(request);
    };
    const { webhook, secret } = await create({ url: `${receiver.url}/hook` });
    await emitOf('scan-1', ['scanning.tags.detected']);
    while (await dispatchEvents({ ...parts, post }));
    const rotated = await api.post(`${PATH}/${webhook.id}/rotate-secret`, { overlap_hours: 1 });
    await emitOf('scan-2', ['scanning.scan.completed']);
    while (await dispatchEvents({ ...parts, post }));
    receiver.stop();

    const [first, second] = receiver.received;
    assert.deepEqual(Object.keys(first!.body), ['type', 'timestamp', 'data']);
    assert.equal(first!.body.type, 'scanning.tags.detected');
    assert.equal(first!.body.timestamp, new Date(now).toISOString());
    assert.deepEqual(first!.body.data.tag_slugs, ['autosound']);
    new Webhook(secret).verify(first!.text, headers[0]!);
    for (const one of [secret, rotated.body.secret]) new Webhook(one).verify(second!.text, headers[1]!);
    assert.throws(() => new Webhook(rotated.body.secret).verify(first!.text, headers[0]!));
  });

  test('§6.4.21 the events of a scan are sent in their order, each after the one before was taken; other scans go on', async () => {
    await create();
    reply = (_, { scanId, sequence }) => ({ status: scanId === 'slow' && sequence === 1 && now === began ? 503 : 200 });
    await emitOf('slow');
    await emitOf('quick');
    await dispatch();
    assert.ok(!sent.some(({ scanId, sequence }) => scanId === 'slow' && sequence > 1));
    await pass(HOUR);
    assertInOrder(sent.filter(({ scanId, sequence, at }) => !(scanId === 'slow' && sequence === 1 && at === began)));
    assert.deepEqual(new Set(sent.map(({ scanId, sequence }) => `${scanId} ${sequence}`)).size, 6);
  });

  test('§6.4.22 a failing endpoint gets its oldest event alone, after growing pauses; one success makes all due', async () => {
    const { webhook } = await create();
    await emit(3);
    reply = () => ({ status: 410 });
    await dispatch();
    const firstGroup = sent.length;
    assert.ok(firstGroup <= 4);
    await pass(HOUR / 2);
    const probes = sent.slice(firstGroup);
    assert.ok(probes.length >= 2 && new Set(probes.map(({ eventId }) => eventId)).size === 1, 'the oldest alone');
    const failing = await read(webhook.id);
    assert.equal(failing.failing_since, new Date(began).toISOString());
    assert.ok(Date.parse(failing.paused_until) > now);
    reply = () => ({ status: 200 });
    await pass(HOUR);
    const { failing_since, health } = await read(webhook.id);
    assert.deepEqual([failing_since, health.consecutive_failures], [null, 0]);
    assert.equal(await waiting(webhook.id), 0);
  });

  const waiting = (endpoint_id: string) =>
    api.store.collection('webhook_deliveries').countDocuments({ endpoint_id, state: 'waiting' });

  test('§6.4.23 down for 1 h and 23 h: a warning after the first hour, then everything is delivered', async () => {
    for (const hours of [1, 23]) {
      [began, sent, mails] = [now, [], []];
      const { webhook } = await create({ url: `${URL}/${hours}` });
      reply = () => ({ status: 500 });
      await emit(5);
      await pass(hours * HOUR + 20 * MINUTE);
      assert.deepEqual(mails, ['Webhook failing: hooks.example.com after 1 h']);
      reply = () => ({ status: 200 });
      await pass(HOUR + 10 * MINUTE);
      assert.equal(await waiting(webhook.id), 0, `${hours} h`);
      assert.equal((await read(webhook.id)).is_active, true);
      await api.call('DELETE', `${PATH}/${webhook.id}`);
    }
  });

  test('§6.4.24 down for 25 h: switched off after 24 with a mail; started anew it gets what is younger, and a range on replay', async () => {
    const { webhook } = await create();
    reply = () => ({ status: 500 });
    await emit(2);
    await pass(20 * HOUR);
    await emit(1);
    await pass(5 * HOUR);
    assert.deepEqual(mails, [
      'Webhook failing: hooks.example.com after 1 h',
      'Webhook switched off: hooks.example.com after 24 h',
    ]);
    const off = await read(webhook.id);
    assert.deepEqual([off.is_active, off.disabled_reason], [false, 'failing']);
    sent = [];
    reply = () => ({ status: 200 });
    await api.call('PATCH', `${PATH}/${webhook.id}`, { body: { is_active: true } });
    await pass(HOUR);
    assert.equal(taken().length, 3, 'what is younger than 24 hours');
    const { endpoints, deliveries, events } = api.domains.delivery.stores;
    const endpoint = await endpoints.find(ORGANIZATIONS.ours, webhook.id);
    const range: [Date, Date] = [new Date(began - 1), new Date(now)];
    const replayed = await replayRange({ endpoints, deliveries, events, queued() {} }, endpoint!, range, new Date(now));
    assert.deepEqual(replayed, { replayed: 6, skipped: 3 });
    await pass(HOUR);
    assert.equal(taken().length, 9);
  });

  test('§6.4.33 a warning that cannot be mailed is tried again for a day; one that the mail server refuses is given up', async () => {
    const { webhook } = await create();
    reply = () => ({ status: 500 });
    await emit(1);
    await pass(55 * MINUTE);
    now += 11 * MINUTE;
    await dispatch();
    const failed = { sent: false, status: null, isPermanent: false, reason: 'no mail server', cause: null } as const;
    for (let at = 0; at < 30 * 60; at += 1) {
      await mail(failed);
      now += MINUTE;
    }
    assert.ok(mails.length >= 24 && mails.length <= 35, `${mails.length} tries`);
    mails = [];
    await dispatch();
    await mail({ ...failed, status: 550, isPermanent: true });
    now += HOUR;
    await mail();
    assert.equal(mails.length, 1, 'that it was switched off');
    assert.equal((await read(webhook.id)).is_active, false);
  });

  test('§6.4.34 the metrics count tries by outcome, what waits by its age, failing endpoints, and the lateness of what was taken', async () => {
    const metrics = workMetrics(new Registry());
    parts.metrics = metrics;
    await create();
    await create({ url: `${URL}/good`, event_types: ['scanning.scan.completed'] });
    reply = ({ url }) => ({ status: url.endsWith('good') ? 200 : 500 });
    await emit(1);
    await dispatch();
    now += 2 * HOUR;
    await emitOf(newId(), ['scanning.tags.detected']);
    await measureWebhooks({ ...api.domains.delivery.stores, metrics }, new Date(now));
    const { values } = await metrics.webhookBacklog.get();
    assert.deepEqual(Object.fromEntries(values.map(({ labels, value }) => [labels.age, value])), {
      ...{ '1m': 1, '1h': 0, '6h': 3, '24h': 0 },
    });
    assert.equal((await metrics.failingEndpoints.get()).values[0]?.value, 1);
    const outcomes = (await metrics.webhookDeliveries.get()).values.map(({ labels }) => labels.outcome);
    assert.deepEqual(outcomes.toSorted(), ['delivered', 'dropped', 'expired', 'failed']);
  });

  test(`§6.4.25 ${3 * DRAINED_SCANS} buffered events drain: none lost, in order, four in flight at first and never more than 32`, async () => {
    const { webhook } = await create();
    reply = () => ({ status: 500 });
    await emit(DRAINED_SCANS);
    await dispatch();
    sent = [];
    let [inFlight, most] = [0, 0];
    const widths: number[] = [];
    reply = async () => {
      most = Math.max(most, ++inFlight);
      // Answered once no further request arrives.
      for (let seen = 0; seen < inFlight; await setTimeout(10)) seen = inFlight;
      widths.push(inFlight--);
      return { status: 200 };
    };
    await pass(HOUR);
    assert.equal(taken().length, 3 * DRAINED_SCANS);
    assertInOrder(taken());
    assert.equal(most, 32);
    assert.ok(widths.slice(0, 5).every((width) => width <= 4));
    assert.equal(await waiting(webhook.id), 0);
  });

  test('§6.4.26 archived tags are left out when an event is sent, and an event of which nothing is left is not sent', async () => {
    await create();
    const tag = {
      display_name: 'Mine',
      description: '',
      category: 'custom',
      severity: 'low',
      visibility: 'public',
    } as const;
    const own = { ...tag, slug: 'mine', organization_id: ORGANIZATIONS.ours, archived_at: new Date(now) };
    await api.tags.register([own as never], new Date(now));
    const tags = [{ slug: 'mine', category: 'custom', severity: 'low', url: '' }];
    await emitOf('all-archived', ['scanning.tags.detected'], { tag_slugs: ['mine'], tags });
    await emitOf('some-archived', ['scanning.tags.detected'], { tag_slugs: ['mine', 'autosound'], tags });
    const bodies: Json[] = [];
    reply = ({ body }) => {
      bodies.push(JSON.parse(String(body)).data);
      return { status: 200 };
    };
    await dispatch();
    assert.deepEqual(
      bodies.map(({ scan_id, tag_slugs, tags: shown }) => [scan_id, tag_slugs, shown]),
      [['some-archived', ['autosound'], []]],
    );
    const { items } = (await api.get(`${PATH}/events`)).body;
    assert.deepEqual(
      items.map(({ data }: Json) => data),
      bodies,
    );
  });

  test('§6.4.36 events are listed newest first with the bodies of their deliveries, without an endpoint and to their organization alone', async () => {
    await emitOf('scan-1');
    const { items, total } = (await api.get(`${PATH}/events`)).body;
    assert.equal(total, KINDS.length);
    const { id, ...body } = items[0];
    assert.deepEqual(Object.keys(body), ['type', 'timestamp', 'data', 'deliveries']);
    assert.deepEqual([typeof id, body.data.scan_id], ['string', 'scan-1']);
    const at = (field: string, moment: number) => `${PATH}/events?${field}=${new Date(moment).toISOString()}`;
    assert.equal((await api.get(at('from_ts', now + 1))).body.total, 0);
    assert.equal((await api.get(at('to_ts', now))).body.total, 0);
    assert.equal((await api.get(at('from_ts', now))).body.total, KINDS.length);
    assert.equal((await api.get(`${PATH}/events`, { key: KEYS.theirs })).body.total, 0);
    assert.equal((await api.get(`${PATH}/events`, { key: await api.keyThatMay('scans.read') })).status, 403);
  });

  test('§6.4.38 the events of a scan are listed with what became of them at each endpoint that wanted them', async () => {
    const { webhook: all } = await create();
    const { webhook: completed } = await create({ event_types: ['scanning.scan.completed'] });
    await emitOf('scan-1');
    await emitOf('scan-2');
    await dispatch();
    const { items, total } = (await api.get(`${PATH}/events?scan_id=scan-1`)).body;
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
    assert.equal((await api.get(`${PATH}/events?scan_id=scan-1`, { key: KEYS.theirs })).body.total, 0);
  });

  test('§6.4.27 of dispatchers that are told to stop at random none loses an event, and what is repeated was in flight', async () => {
    const { webhook } = await create();
    await emit(60);
    const random = seededRandom(20_261_126);
    let ends = 0;
    while ((await waiting(webhook.id)) > 0 && ends < 50) {
      const stopping = new AbortController();
      let left = 1 + Math.floor(random() * 15);
      reply = async () => {
        if (--left === 0) stopping.abort(new Error('killed'));
        if (stopping.signal.aborted) throw stopping.signal.reason;
        return { status: 200 };
      };
      await dispatchEvents(parts, stopping.signal);
      ends += 1;
      now += 2 * MINUTE;
    }
    reply = () => ({ status: 200 });
    await dispatch();
    assert.equal(await waiting(webhook.id), 0);
    assert.equal(new Set(sent.map(({ eventId }) => eventId)).size, 180);
    assert.ok(ends >= 10 && sent.length - 180 <= ends * 32, `${sent.length - 180} repeated in ${ends} ends`);
  });

  test('§6.4.28 two dispatchers at once send each event once', async () => {
    await create();
    await emit(40);
    await Promise.all([dispatch(), dispatch(), dispatch()]);
    await dispatch();
    assert.equal(sent.length, 120);
  });

  test('§6.4.29 an endpoint that does not answer delays no other one', async () => {
    await create({ url: `${URL}/hangs` });
    await create();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    reply = async ({ url }) => {
      if (url.endsWith('/hangs')) await held;
      return { status: 200 };
    };
    const wake = createWakeSignal();
    const loop = startDispatchingEvents({ ...parts, clock: () => new Date() }, wake);
    for (let at = 1; at <= 3; at++) {
      await emit(1);
      wake.raise();
      await until('the other endpoint has it', () => taken().length === 3 * at);
    }
    release();
    await loop.stop();
  });

  test('§6.4.30 the log has each try with its answer, and is filtered; a delivery is replayed whatever became of it', async () => {
    const { webhook } = await create({ event_types: ['scanning.scan.completed'] });
    await emitOf('scan-1');
    reply = () => ({ status: 500, body: 'no' });
    await dispatch();
    reply = async () => {
      throw new EgressError('connect', 'no connection');
    };
    await pass(10 * MINUTE);
    reply = () => ({ status: 200 });
    await pass(HOUR);
    const log = async (query = '') => (await api.get(`${PATH}/${webhook.id}/deliveries${query}`)).body;
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
    assert.equal((await log(`?to_ts=${new Date(began).toISOString()}`)).total, 0);
    assert.equal((await api.get(`${PATH}/${webhook.id}/deliveries`, { key: KEYS.theirs })).status, 404);

    sent = [];
    const replay = (key = KEYS.ours) => api.post(`${PATH}/deliveries/${last.id}/replay`, undefined, { key });
    assert.equal((await replay(KEYS.theirs)).status, 404);
    assert.equal((await replay()).status, 204);
    await dispatch();
    assert.deepEqual(
      sent.map(({ eventId }) => eventId),
      [last.event_id],
    );
  });

  test('§6.4.30 a delivery whose event is not kept any more, or whose endpoint was deleted, is not replayed', async () => {
    const { webhook } = await create({ event_types: ['scanning.scan.completed'] });
    for (const scan of ['scan-1', 'scan-2']) await emitOf(scan);
    await dispatch();
    const tries = (await api.get(`${PATH}/${webhook.id}/deliveries`)).body.items;
    const replay = async (at: number) => (await api.post(`${PATH}/deliveries/${tries[at].id}/replay`)).status;
    await api.store.collection<{ event_id: string }>('webhook_deliveries').deleteOne({ event_id: tries[0].event_id });
    assert.deepEqual([await replay(0), await replay(1)], [404, 204]);
    assert.equal((await api.call('DELETE', `${PATH}/${webhook.id}`)).status, 204);
    assert.equal(await replay(1), 404);
  });

  test('§6.4.31 a test shot sends a sample once, returns what came back, and counts for nothing', async () => {
    const receiver = await startDouble(() => ({ status: 418, body: 'a teapot' }));
    const { webhook } = await create({ url: receiver.url });
    const { body } = await api.post(`${PATH}/${webhook.id}/test`, { event_type: 'scanning.scan.completed' });
    receiver.stop();
    const { elapsed_ms, ...others } = body;
    assert.deepEqual(others, { success: false, response_status: 418, error_code: 'status', response_body: 'a teapot' });
    assert.ok(Number.isInteger(elapsed_ms));
    assert.deepEqual(receiver.received[0]!.body, sampleBody('scanning.scan.completed'));
    assert.equal((await read(webhook.id)).health.last_delivery_at, null);
    assert.equal((await api.get(`${PATH}/${webhook.id}/deliveries`)).body.total, 0);
  });

  test('§6.4.32 events are replayable until day 7', async () => {
    const { webhook } = await create();
    await api.call('PATCH', `${PATH}/${webhook.id}`, { body: { is_active: false } });
    const old = now;
    for (const days of [6, 8]) {
      now = old - days * DAY;
      await emitOf(`of day ${days}`, ['scanning.scan.completed']);
    }
    now = old;
    const range = { from_ts: new Date(now - 9 * DAY).toISOString(), to_ts: new Date(now).toISOString() };
    assert.deepEqual((await api.post(`${PATH}/${webhook.id}/replay`, range)).body, { replayed: 1, skipped: 0 });
  });
});
