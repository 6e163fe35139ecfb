import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../shared/test/support/until.ts';
import { startDispatching } from '../../../src/delivery/notifications/dispatch.ts';
import { raiseAlert, relayAll, startDouble } from '../../support/alert-doubles.ts';
import { type AlertReceivers, alertReceivers, DESTINATIONS, SPRING_OFFER } from '../../support/alert-receivers.ts';
import { KEYS, ORGANIZATIONS } from '../../support/running-api.ts';

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

let receivers: AlertReceivers;
before(async () => {
  receivers = await alertReceivers();
});
after(() => receivers.stop());

/**
 * A dispatcher sends a message and dies before it notes that, another one sends it again, and a second message follows.
 */
async function sendAgainAndAnother(campaign: string): Promise<void> {
  const { notices } = receivers.api.domains.delivery.stores;
  const dies = async () => {
    throw new Error('the process ends');
  };
  await raiseAlert(receivers.api, campaign);
  await relayAll(receivers.api);
  await assert.rejects(receivers.dispatchAfter(61 * SECOND_MS, { notices: { ...notices, remove: dies } }), /ends/);
  await receivers.dispatchAfter(10 * MINUTE_MS);
  await raiseAlert(receivers.api, campaign);
  await relayAll(receivers.api);
  await receivers.dispatchAfter(20 * MINUTE_MS);
}

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
      const made = await receivers.api.post(DESTINATIONS, destination, { key: KEYS.theirs });
      ids.push(made.body.id);
    }
    const body = { ...SPRING_OFFER, notifications: { mode: 'override', destination_ids: ids } };
    const theirs = (await receivers.api.post('/api/v1/campaigns', body, { key: KEYS.theirs })).body.id;
    await raiseAlert(receivers.api, theirs, {}, {}, { organizationId: ORGANIZATIONS.theirs });
    await relayAll(receivers.api);
    const one = await receivers.newDestination();
    await raiseAlert(receivers.api, await receivers.newCampaign([one.id]));
    await relayAll(receivers.api);

    const clock = () => new Date(Date.now() + 61 * SECOND_MS);
    const parts = { ...receivers.api.domains.delivery.dependencies.dispatching, clock };
    const loop = startDispatching(parts);
    await until('ours is sent', async () => (await receivers.readDestination(one.id)).last_delivery_status === 200);
    await until('theirs have their places', () => slow.received.length === 4);
    answer();
    await until('the others have their places', () => slow.received.length === ids.length);
    await loop.stop();
    slow.stop();
  });

  test('§2.8.52 a message is sent when an alert is raised or changes, for the statuses of the destination, each status by itself', async () => {
    const [opens, closes] = [
      await receivers.newDestination(),
      await receivers.newDestination({ included_statuses: ['resolved'] }),
    ];
    const campaign = await receivers.newCampaign([opens.id, closes.id], 'Statuses');
    const before = receivers.slack.received.length;
    const alertId = await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    const { alerts } = receivers.api.domains.delivery.stores;
    const alert = (await alerts.find(ORGANIZATIONS.ours, alertId))!;
    assert.ok(await alerts.change(alert, { status: 'resolved', keyId: 'key', now: new Date() }));
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    const titles = receivers.slack.received.slice(before).map(({ body }) => body.blocks[0].text.text);
    assert.deepEqual(titles.sort(), ['Statuses: open · 1 alert', 'Statuses: resolved · 1 alert']);
  });

  test('§2.8.53 a campaign that is silent, or overrides with nobody, sends nothing; one that inherits uses the default targets', async () => {
    const [target, other] = [
      await receivers.newDestination(),
      await receivers.newDestination({ is_default_target: false }),
    ];
    const campaign = await receivers.newCampaign([]);
    const overrides = `/api/v1/alert-notifications/campaigns/${campaign}/overrides`;
    const queued = async (): Promise<string[]> => {
      await raiseAlert(receivers.api, campaign);
      await relayAll(receivers.api);
      const { notices } = receivers.api.domains.delivery.stores;
      const waiting = [target, other].map(async ({ id: destination_id }) =>
        (await notices.oldestWaiting({ organization_id: ORGANIZATIONS.ours, destination_id })) ? [destination_id] : [],
      );
      return (await Promise.all(waiting)).flat();
    };
    assert.deepEqual(await queued(), []);
    assert.equal((await receivers.api.call('PUT', overrides, { body: { mode: 'silence' } })).status, 204);
    assert.deepEqual(await queued(), []);
    assert.equal((await receivers.api.call('PUT', overrides, { body: { mode: 'inherit' } })).status, 204);
    assert.deepEqual(await queued(), [target.id]);
    await receivers.dispatchAfter(61 * SECOND_MS);
    for (const { id } of (await receivers.api.get(DESTINATIONS)).body)
      await receivers.api.call('DELETE', `${DESTINATIONS}/${id}`);
  });

  test('§2.8.54 a failed message is tried again after 5 s, doubling, with jitter, and the failure is seen on the destination', async () => {
    const one = await receivers.newDestination();
    const campaign = await receivers.newCampaign([one.id], 'Failing');
    receivers.replies.slack = () => ({ status: 503, body: 'not now' });
    const before = receivers.slack.received.length;
    await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    assert.equal(receivers.slack.received.length, before + 1);
    const failed = await receivers.readDestination(one.id);
    assert.deepEqual([failed.consecutive_failures, failed.last_delivery_status], [1, 503]);
    assert.match(failed.last_delivery_error, /answered 503: not now/);
    const failedAt = Date.parse(failed.failing_since);
    const pausedMs = Date.parse(failed.paused_until) - failedAt;
    assert.ok(pausedMs >= 2_500 && pausedMs <= 5_000, String(pausedMs));
    await receivers.dispatchAt(failedAt + pausedMs - 1);
    assert.equal(receivers.slack.received.length, before + 1);
    await receivers.dispatchAt(failedAt + 5 * SECOND_MS);
    assert.equal(receivers.slack.received.length, before + 2);
    receivers.replies.slack = () => ({ status: 200 });
    await receivers.dispatchAt(failedAt + 15 * SECOND_MS);
    assert.equal(receivers.slack.received.length, before + 3);
    const again = await receivers.readDestination(one.id);
    assert.deepEqual([again.consecutive_failures, again.failing_since, again.last_delivery_error], [0, null, null]);
  });

  test('§2.8.55 a destination is switched off after a day without success, and is_active starts it anew with what waits', async () => {
    const one = await receivers.newDestination();
    const campaign = await receivers.newCampaign([one.id], 'Off');
    receivers.replies.slack = () => ({ status: 404, body: 'no_service' });
    await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    await receivers.dispatchAfter(23 * HOUR_MS);
    assert.equal((await receivers.readDestination(one.id)).is_active, true);
    await receivers.dispatchAfter(24 * HOUR_MS + 2 * MINUTE_MS);
    const off = await receivers.readDestination(one.id);
    assert.deepEqual([off.is_active, off.disabled_reason, off.last_delivery_status], [false, 'failing', 404]);
    const before = receivers.slack.received.length;
    await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    await receivers.dispatchAfter(25 * HOUR_MS);
    assert.equal(receivers.slack.received.length, before);
    receivers.replies.slack = () => ({ status: 200 });
    const { body } = await receivers.api.call('PATCH', `${DESTINATIONS}/${one.id}`, { body: { is_active: true } });
    assert.deepEqual([body.is_active, body.failing_since, body.consecutive_failures], [true, null, 0]);
    // Also by the clock of a dispatcher that is behind that of the server.
    await receivers.dispatchAfter(-MINUTE_MS);
    assert.ok(receivers.slackTexts(before).some((text) => text.includes('Off: open')));
  });

  test('§2.8.56 one message that is refused does not hold back others', async () => {
    const one = await receivers.newDestination();
    const [poison, fine] = [
      await receivers.newCampaign([one.id], 'Poison'),
      await receivers.newCampaign([one.id], 'Fine'),
    ];
    receivers.replies.slack = (body) =>
      JSON.stringify(body).includes('Poison') ? { status: 400, body: 'invalid_blocks' } : { status: 200 };
    const before = receivers.slack.received.length;
    await raiseAlert(receivers.api, poison);
    await raiseAlert(receivers.api, fine);
    await relayAll(receivers.api);
    await receivers.dispatchAfter(62 * SECOND_MS);
    await receivers.dispatchAfter(68 * SECOND_MS);
    receivers.replies.slack = () => ({ status: 200 });
    assert.ok(receivers.slackTexts(before).some((text) => text.includes('Fine')));
  });

  test('§2.8.54 a message that is refused for a day is given up, and its destination, which takes others, stays', async () => {
    const one = await receivers.newDestination();
    const [refused, fine] = [
      await receivers.newCampaign([one.id], 'Refused'),
      await receivers.newCampaign([one.id], 'Taken'),
    ];
    receivers.replies.slack = (body) => ({ status: JSON.stringify(body).includes('Refused') ? 400 : 200 });
    const before = receivers.slack.received.length;
    const triedOf = (name: string) => receivers.slackTexts(before).filter((text) => text.includes(name)).length;
    await raiseAlert(receivers.api, refused);
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    await raiseAlert(receivers.api, fine);
    await relayAll(receivers.api);
    for (const hours of [12, 13, 14]) await receivers.dispatchAfter(hours * HOUR_MS);
    const tried = triedOf('Refused');
    assert.deepEqual([tried > 1, triedOf('Taken')], [true, 1]);
    await receivers.dispatchAfter(24 * HOUR_MS + 2 * MINUTE_MS);
    receivers.replies.slack = () => ({ status: 200 });
    await receivers.dispatchAfter(26 * HOUR_MS);
    assert.equal(triedOf('Refused'), tried);
    assert.equal((await receivers.readDestination(one.id)).is_active, true);
    const of = { organization_id: ORGANIZATIONS.ours, destination_id: one.id };
    assert.equal(await receivers.api.domains.delivery.stores.notices.nextMessage(of), null);
  });

  test('§2.8.57 several dispatchers send each message once', async () => {
    const some = await Promise.all(Array.from({ length: 6 }, () => receivers.newDestination()));
    const campaign = await receivers.newCampaign(
      some.map(({ id }) => id),
      'Together',
    );
    const before = receivers.slack.received.length;
    await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    await Promise.all(Array.from({ length: 4 }, () => receivers.dispatchAfter(61 * SECOND_MS)));
    assert.equal(receivers.slackTexts(before).filter((text) => text.includes('Together')).length, some.length);
  });

  test('§2.8.57 a dispatcher that dies repeats at most what was under way, and nothing is lost', async () => {
    const one = await receivers.newDestination();
    const campaigns = [await receivers.newCampaign([one.id], 'First'), await receivers.newCampaign([one.id], 'Second')];
    const before = receivers.slack.received.length;
    for (const id of campaigns) await raiseAlert(receivers.api, id);
    await relayAll(receivers.api);
    const { notices } = receivers.api.domains.delivery.stores;
    const dies = async () => {
      throw new Error('the process ends');
    };
    await assert.rejects(receivers.dispatchAfter(61 * SECOND_MS, { notices: { ...notices, remove: dies } }), /ends/);
    await receivers.dispatchAfter(62 * SECOND_MS);
    assert.equal(receivers.slack.received.length, before + 1);
    await receivers.dispatchAfter(10 * MINUTE_MS);
    const titles = receivers.slack.received
      .slice(before)
      .map(({ body }) => body.blocks[0].text.text.slice(0, 6))
      .filter((title) => /^(First|Second)/.test(title));
    assert.equal(titles.length, 3);
    assert.deepEqual(new Set(titles), new Set(['First:', 'Second']));
  });

  test('§2.8.57 what a dispatcher that stops has not sent, another one sends at once, and it is no failure', async () => {
    const begun = Promise.withResolvers<void>();
    const silent = await startDouble(() => {
      begun.resolve();
      return new Promise<never>(() => {});
    });
    const one = await receivers.newDestination({ slack: { webhook_url: `${silent.url}/hook` } });
    await raiseAlert(receivers.api, await receivers.newCampaign([one.id], 'Stopped'));
    await relayAll(receivers.api);
    const clock = () => new Date(Date.now() + 61 * SECOND_MS);
    const loop = startDispatching({ ...receivers.api.domains.delivery.dependencies.dispatching, clock });
    await begun.promise;
    await loop.stop();
    await receivers.dispatchAfter(62 * SECOND_MS, { send: async () => ({ sent: true, status: 200 }) });
    const { last_delivery_status, failing_since } = await receivers.readDestination(one.id);
    assert.deepEqual([last_delivery_status, failing_since], [200, null]);
    silent.stop();
  });

  test('§2.8.58 the change of an alert is queued once, however often the relay carries it out', async () => {
    const one = await receivers.newDestination();
    const campaign = await receivers.newCampaign([one.id], 'Once');
    const alert = (await receivers.api.domains.delivery.stores.alerts.find(
      ORGANIZATIONS.ours,
      await raiseAlert(receivers.api, campaign),
    ))!;
    const before = receivers.slack.received.length;
    const handle = receivers.api.domains.delivery.outboxHandlers['alert.changed'];
    const origin = { organizationId: ORGANIZATIONS.ours, scanId: alert.scan_id, campaignId: campaign };
    for (const entry of alert.outbox) for (let again = 0; again < 3; again += 1) await handle(entry as never, origin);
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    assert.equal(receivers.slack.received.length, before + 1);
    assert.match(receivers.slackTexts(before)[0]!, /Once: open · 1 alert"/);
  });

  test('§2.8.58 the change of an alert is sent once, also if the relay dies after it has queued it and carries it out again once it was sent', async () => {
    const one = await receivers.newDestination();
    const campaign = await receivers.newCampaign([one.id], 'Relayed again');
    const { stores, outboxHandlers } = receivers.api.domains.delivery;
    const alert = (await stores.alerts.find(ORGANIZATIONS.ours, await raiseAlert(receivers.api, campaign)))!;
    const before = receivers.slack.received.length;
    const origin = { organizationId: ORGANIZATIONS.ours, scanId: alert.scan_id, campaignId: campaign };
    // The relay dies each time before it has removed the entry from the alert's outbox.
    for (const sentAfterMs of [61 * SECOND_MS, 10 * MINUTE_MS]) {
      for (const entry of alert.outbox) await outboxHandlers['alert.changed'](entry as never, origin);
      await receivers.dispatchAfter(sentAfterMs);
    }
    await relayAll(receivers.api);
    await receivers.dispatchAfter(20 * MINUTE_MS);
    assert.equal(receivers.slack.received.length, before + 1);
  });

  test('§2.8.57 a message that is posted again, because its dispatcher died, has the same webhook-id, and another one has another', async () => {
    const one = await receivers.newDestination();
    const campaign = await receivers.newCampaign([one.id], 'Posted again');
    const before = receivers.slack.received.length;
    await sendAgainAndAnother(campaign);
    const ids = receivers.slack.received.slice(before).map(({ headers }) => headers['webhook-id']);
    assert.equal(ids.length, 3);
    assert.ok(ids[0] && ids[0] === ids[1] && ids[2] && ids[2] !== ids[0], String(ids));
  });

  test('§2.8.57 a mail that a dispatcher sends again, because it died, has the same Message-ID, and another mail has another', async () => {
    const one = await receivers.newDestination({
      ...{ channel: 'email', slack: undefined, email: { address: 'again@customer.example' } },
    });
    const campaign = await receivers.newCampaign([one.id], 'Mailed again');
    await sendAgainAndAnother(campaign);
    const ids = receivers.mail.received
      .filter(({ to }) => to.includes('again@customer.example'))
      .map(({ source }) => /^Message-ID: (<[\w-]+@adsweep\.example>)\r$/m.exec(source)?.[1]);
    assert.equal(ids.length, 3);
    assert.ok(ids[0] !== undefined && ids[0] === ids[1] && ids[2] !== undefined && ids[2] !== ids[0], String(ids));
  });

  test('§2.8.60 the test button sends a message at once, and counts for nothing', async () => {
    const one = await receivers.newDestination();
    const before = receivers.slack.received.length;
    const { body } = await receivers.api.post(`${DESTINATIONS}/${one.id}/test`);
    assert.deepEqual(body, { success: true, status: 200, error: null });
    assert.match(receivers.slackTexts(before)[0]!, /This is a test/);
    receivers.replies.slack = () => ({ status: 302, headers: { location: `${receivers.slack.url}/elsewhere` } });
    const redirected = (await receivers.api.post(`${DESTINATIONS}/${one.id}/test`)).body;
    receivers.replies.slack = () => ({ status: 200 });
    assert.deepEqual([redirected.success, redirected.status], [false, 302]);
    assert.match(redirected.error, /redirects are not followed/);
    assert.equal(receivers.slack.received.length, before + 2);
    const { consecutive_failures, last_delivery_at } = await receivers.readDestination(one.id);
    assert.deepEqual([consecutive_failures, last_delivery_at], [0, null]);
    assert.equal(
      (await receivers.api.post(`${DESTINATIONS}/${one.id}/test`, undefined, { key: KEYS.theirs })).status,
      404,
    );
  });

  test('§2.8.81 an organization sends no more test messages in a day than it may', async () => {
    const one = await receivers.newDestination();
    const { storedPerDay } = receivers.api.domains.accounts.verbs;
    await storedPerDay.take(ORGANIZATIONS.ours, 'tests', 490);
    const before = receivers.slack.received.length;
    const statuses: number[] = [];
    for (let tries = 0; tries < 11; tries += 1)
      statuses.push((await receivers.api.post(`${DESTINATIONS}/${one.id}/test`)).status);
    assert.equal(statuses.at(-1), 429);
    const sent = receivers.slack.received.length - before;
    assert.ok(sent <= 10, `${sent} sent`);
    await receivers.api.store.collection('day_shares').deleteMany({});
  });
});
