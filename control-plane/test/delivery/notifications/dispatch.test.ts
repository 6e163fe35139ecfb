import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../shared/test/support/until.ts';
import { startDispatching } from '../../../src/delivery/notifications/dispatch.ts';
import { raiseAlert, relayAll, startDouble } from '../../support/alert-doubles.ts';
import { type AlertReceivers, alertReceivers, DESTINATIONS, SPRING_OFFER } from '../../support/alert-receivers.ts';
import { KEYS, ORGANIZATIONS } from '../../support/running-api.ts';

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

let receivers: AlertReceivers;
let api: AlertReceivers['api'];
let slack: AlertReceivers['slack'];
let replies: AlertReceivers['replies'];
let newDestination: AlertReceivers['newDestination'];
let newCampaign: AlertReceivers['newCampaign'];
let readDestination: AlertReceivers['readDestination'];
let dispatchAfter: AlertReceivers['dispatchAfter'];
let slackTexts: AlertReceivers['slackTexts'];
before(async () => {
  receivers = await alertReceivers();
  ({ api, slack, replies, newDestination, newCampaign, readDestination, dispatchAfter, slackTexts } = receivers);
});
after(() => receivers.stop());

describe('the dispatch of messages about alerts', () => {
  test('an organization whose destinations are slow has some of the places, and each that becomes free is taken at once', async () => {
    let answer = () => {};
    const answering = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = await startDouble(() => answering.then(() => ({ status: 200 })));
    const destination = { name: 'Slow', channel: 'slack', slack: { webhook_url: `${slow.url}/hook` } };
    const ids: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const made = await api.post(DESTINATIONS, destination, { key: KEYS.theirs });
      ids.push(made.body.id);
    }
    const body = { ...SPRING_OFFER, notifications: { mode: 'override', destination_ids: ids } };
    const theirs = (await api.post('/api/v1/campaigns', body, { key: KEYS.theirs })).body.id;
    await raiseAlert(api, theirs, {}, {}, { organizationId: ORGANIZATIONS.theirs });
    await relayAll(api);
    const one = await newDestination();
    await raiseAlert(api, await newCampaign([one.id]));
    await relayAll(api);

    const clock = () => new Date(Date.now() + 61 * SECOND_MS);
    const parts = { ...api.domains.delivery.dependencies.dispatching, clock };
    const loop = startDispatching(parts);
    await until('ours is sent', async () => (await readDestination(one.id)).last_delivery_status === 200);
    await until('theirs have their places', () => slow.received.length === 4);
    answer();
    await until('the others have their places', () => slow.received.length === ids.length);
    await loop.stop();
    slow.stop();
  });

  test('§2.8.52 a message is sent when an alert is raised or changes, for the statuses of the destination, each status by itself', async () => {
    const [opens, closes] = [await newDestination(), await newDestination({ included_statuses: ['resolved'] })];
    const campaign = await newCampaign([opens.id, closes.id], 'Statuses');
    const before = slack.received.length;
    const alertId = await raiseAlert(api, campaign);
    await relayAll(api);
    const { alerts } = api.domains.delivery.stores;
    const alert = (await alerts.find(ORGANIZATIONS.ours, alertId))!;
    assert.ok(await alerts.change(alert, { status: 'resolved', keyId: 'key', now: new Date() }));
    await relayAll(api);
    await dispatchAfter(61 * SECOND_MS);
    const titles = slack.received.slice(before).map(({ body }) => body.blocks[0].text.text);
    assert.deepEqual(titles.sort(), ['Statuses: open · 1 alert', 'Statuses: resolved · 1 alert']);
  });

  test('§2.8.53 a campaign that is silent, or overrides with nobody, sends nothing; one that inherits uses the default targets', async () => {
    const [target, other] = [await newDestination(), await newDestination({ is_default_target: false })];
    const campaign = await newCampaign([]);
    const overrides = `/api/v1/alert-notifications/campaigns/${campaign}/overrides`;
    const queued = async (): Promise<string[]> => {
      await raiseAlert(api, campaign);
      await relayAll(api);
      const { notices } = api.domains.delivery.stores;
      const waiting = [target, other].map(async ({ id: destination_id }) =>
        (await notices.oldestWaiting({ organization_id: ORGANIZATIONS.ours, destination_id })) ? [destination_id] : [],
      );
      return (await Promise.all(waiting)).flat();
    };
    assert.deepEqual(await queued(), []);
    assert.equal((await api.call('PUT', overrides, { body: { mode: 'silence' } })).status, 204);
    assert.deepEqual(await queued(), []);
    assert.equal((await api.call('PUT', overrides, { body: { mode: 'inherit' } })).status, 204);
    assert.deepEqual(await queued(), [target.id]);
    await dispatchAfter(61 * SECOND_MS);
    for (const { id } of (await api.get(DESTINATIONS)).body) await api.call('DELETE', `${DESTINATIONS}/${id}`);
  });

  test('§2.8.54 a failed message is tried again after 5 s, doubling, with jitter, and the failure is seen on the destination', async () => {
    const one = await newDestination();
    const campaign = await newCampaign([one.id], 'Failing');
    replies.slack = () => ({ status: 503, body: 'not now' });
    const before = slack.received.length;
    await raiseAlert(api, campaign);
    await relayAll(api);
    await dispatchAfter(61 * SECOND_MS);
    assert.equal(slack.received.length, before + 1);
    const failed = await readDestination(one.id);
    assert.deepEqual([failed.consecutive_failures, failed.last_delivery_status], [1, 503]);
    assert.match(failed.last_delivery_error, /answered 503: not now/);
    const pausedMs = Date.parse(failed.paused_until) - Date.parse(failed.failing_since);
    assert.ok(pausedMs >= 2_500 && pausedMs <= 5_000, String(pausedMs));
    await dispatchAfter(62 * SECOND_MS);
    assert.equal(slack.received.length, before + 1);
    await dispatchAfter(67 * SECOND_MS);
    assert.equal(slack.received.length, before + 2);
    replies.slack = () => ({ status: 200 });
    await dispatchAfter(90 * SECOND_MS);
    assert.equal(slack.received.length, before + 3);
    const again = await readDestination(one.id);
    assert.deepEqual([again.consecutive_failures, again.failing_since, again.last_delivery_error], [0, null, null]);
  });

  test('§2.8.55 a destination is switched off after a day without success, and is_active starts it anew with what waits', async () => {
    const one = await newDestination();
    const campaign = await newCampaign([one.id], 'Off');
    replies.slack = () => ({ status: 404, body: 'no_service' });
    await raiseAlert(api, campaign);
    await relayAll(api);
    await dispatchAfter(61 * SECOND_MS);
    await dispatchAfter(23 * HOUR_MS);
    assert.equal((await readDestination(one.id)).is_active, true);
    await dispatchAfter(24 * HOUR_MS + 2 * MINUTE_MS);
    const off = await readDestination(one.id);
    assert.deepEqual([off.is_active, off.disabled_reason, off.last_delivery_status], [false, 'failing', 404]);
    const before = slack.received.length;
    await raiseAlert(api, campaign);
    await relayAll(api);
    await dispatchAfter(25 * HOUR_MS);
    assert.equal(slack.received.length, before);
    replies.slack = () => ({ status: 200 });
    const { body } = await api.call('PATCH', `${DESTINATIONS}/${one.id}`, { body: { is_active: true } });
    assert.deepEqual([body.is_active, body.failing_since, body.consecutive_failures], [true, null, 0]);
    // By the clock of the server its message has waited for a moment only.
    await dispatchAfter(62 * SECOND_MS);
    assert.ok(slackTexts(before).some((text) => text.includes('Off: open')));
  });

  test('§2.8.56 one message that is refused does not hold back others', async () => {
    const one = await newDestination();
    const [poison, fine] = [await newCampaign([one.id], 'Poison'), await newCampaign([one.id], 'Fine')];
    replies.slack = (body) =>
      JSON.stringify(body).includes('Poison') ? { status: 400, body: 'invalid_blocks' } : { status: 200 };
    const before = slack.received.length;
    await raiseAlert(api, poison);
    await raiseAlert(api, fine);
    await relayAll(api);
    await dispatchAfter(62 * SECOND_MS);
    await dispatchAfter(68 * SECOND_MS);
    replies.slack = () => ({ status: 200 });
    assert.ok(slackTexts(before).some((text) => text.includes('Fine')));
  });

  test('§2.8.54 a message that is refused for a day is given up, and its destination, which takes others, stays', async () => {
    const one = await newDestination();
    const [refused, fine] = [await newCampaign([one.id], 'Refused'), await newCampaign([one.id], 'Taken')];
    replies.slack = (body) => ({ status: JSON.stringify(body).includes('Refused') ? 400 : 200 });
    const before = slack.received.length;
    const triedOf = (name: string) => slackTexts(before).filter((text) => text.includes(name)).length;
    await raiseAlert(api, refused);
    await relayAll(api);
    await dispatchAfter(61 * SECOND_MS);
    await raiseAlert(api, fine);
    await relayAll(api);
    for (const hours of [12, 13, 14]) await dispatchAfter(hours * HOUR_MS);
    const tried = triedOf('Refused');
    assert.deepEqual([tried > 1, triedOf('Taken')], [true, 1]);
    await dispatchAfter(24 * HOUR_MS + 2 * MINUTE_MS);
    replies.slack = () => ({ status: 200 });
    await dispatchAfter(26 * HOUR_MS);
    assert.equal(triedOf('Refused'), tried);
    assert.equal((await readDestination(one.id)).is_active, true);
    const of = { organization_id: ORGANIZATIONS.ours, destination_id: one.id };
    assert.equal(await api.domains.delivery.stores.notices.nextMessage(of), null);
  });

  test('§2.8.57 several dispatchers send each message once', async () => {
    const some = await Promise.all(Array.from({ length: 6 }, () => newDestination()));
    const campaign = await newCampaign(
      some.map(({ id }) => id),
      'Together',
    );
    const before = slack.received.length;
    await raiseAlert(api, campaign);
    await relayAll(api);
    await Promise.all(Array.from({ length: 4 }, () => dispatchAfter(61 * SECOND_MS)));
    assert.equal(slackTexts(before).filter((text) => text.includes('Together')).length, some.length);
  });

  test('§2.8.57 a dispatcher that dies repeats at most what was under way, and nothing is lost', async () => {
    const one = await newDestination();
    const campaigns = [await newCampaign([one.id], 'First'), await newCampaign([one.id], 'Second')];
    const before = slack.received.length;
    for (const id of campaigns) await raiseAlert(api, id);
    await relayAll(api);
    const { notices } = api.domains.delivery.stores;
    const dies = async () => {
      throw new Error('the process ends');
    };
    await assert.rejects(dispatchAfter(61 * SECOND_MS, { notices: { ...notices, remove: dies } }), /ends/);
    await dispatchAfter(62 * SECOND_MS);
    assert.equal(slack.received.length, before + 1);
    await dispatchAfter(10 * MINUTE_MS);
    const titles = slack.received
      .slice(before)
      .map(({ body }) => body.blocks[0].text.text.slice(0, 6))
      .filter((title) => /^(First|Second)/.test(title));
    assert.equal(titles.length, 3);
    assert.deepEqual(new Set(titles), new Set(['First:', 'Second']));
  });

  test('§2.8.58 the change of an alert is queued once, however often the relay carries it out', async () => {
    const one = await newDestination();
    const campaign = await newCampaign([one.id], 'Once');
    const alert = (await api.domains.delivery.stores.alerts.find(ORGANIZATIONS.ours, await raiseAlert(api, campaign)))!;
    const before = slack.received.length;
    const handle = api.domains.delivery.outboxHandlers['alert.changed'];
    const origin = { organizationId: ORGANIZATIONS.ours, scanId: alert.scan_id, campaignId: campaign };
    for (const entry of alert.outbox) for (let again = 0; again < 3; again += 1) await handle(entry as never, origin);
    await relayAll(api);
    await dispatchAfter(61 * SECOND_MS);
    assert.equal(slack.received.length, before + 1);
    assert.match(slackTexts(before)[0]!, /Once: open · 1 alert"/);
  });

  test('§2.8.60 the test button sends a message at once, and counts for nothing', async () => {
    const one = await newDestination();
    const before = slack.received.length;
    const { body } = await api.post(`${DESTINATIONS}/${one.id}/test`);
    assert.deepEqual(body, { success: true, status: 200, error: null });
    assert.match(slackTexts(before)[0]!, /This is a test/);
    replies.slack = () => ({ status: 302, headers: { location: `${slack.url}/elsewhere` } });
    const redirected = (await api.post(`${DESTINATIONS}/${one.id}/test`)).body;
    replies.slack = () => ({ status: 200 });
    assert.deepEqual([redirected.success, redirected.status], [false, 302]);
    assert.match(redirected.error, /redirects are not followed/);
    assert.equal(slack.received.length, before + 2);
    const { consecutive_failures, last_delivery_at } = await readDestination(one.id);
    assert.deepEqual([consecutive_failures, last_delivery_at], [0, null]);
    assert.equal((await api.post(`${DESTINATIONS}/${one.id}/test`, undefined, { key: KEYS.theirs })).status, 404);
  });
});
