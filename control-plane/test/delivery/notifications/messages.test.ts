import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import sharp from 'sharp';
import { until } from '../../../../shared/test/support/until.ts';
import { type DispatchParts, dispatchDue, startDispatching } from '../../../src/delivery/notifications/dispatch.ts';
import { openMailer } from '../../../src/platform/mail.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { raiseAlert, relayAll, startDouble } from '../../support/alert-doubles.ts';
import { MAIL_CERTIFICATE, partsOf, startMailServer } from '../../support/mail-server.ts';
import {
  itemsOf,
  type Json,
  KEYS,
  ORGANIZATIONS,
  PAGE,
  type RunningApi,
  runningApi,
} from '../../support/running-api.ts';
import { captureOf } from '../../support/running-farm.ts';
import { storeCapture } from '../../support/store-capture.ts';

const DESTINATIONS = '/api/v1/alert-notifications/destinations';
const CAMPAIGN = { name: 'Spring offer', url: 'https://shop.example/', country_codes: ['US'] };
const TOKEN = '123456:secret-of-the-telegram-bot-x';
const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

let api: RunningApi;
let slack: Awaited<ReturnType<typeof startDouble>>;
let telegram: Awaited<ReturnType<typeof startDouble>>;
let mail: Awaited<ReturnType<typeof startMailServer>>;
/** What the Slack double answers, until a test says otherwise. */
let slackReply: (body: Json) => { status: number; body?: string; headers?: Record<string, string> };
let telegramReply: () => { status: number; body?: string };

before(async () => {
  slackReply = () => ({ status: 200, body: 'ok' });
  telegramReply = () => ({ status: 200, body: '{"ok":true,"result":{}}' });
  slack = await startDouble(({ body }) => slackReply(body));
  telegram = await startDouble(() => telegramReply());
  mail = await startMailServer({ secure: true });
  const mailer = openMailer({
    ...{ url: `smtps://localhost:${mail.port}`, from: 'adsweep@adsweep.example' },
    tls: { ca: MAIL_CERTIFICATE, servername: 'localhost' },
  });
  const egress = new EgressPolicy(['127.0.0.0/8'], []);
  api = await runningApi({ mailer, settings: { telegramApiUrl: telegram.url, egress } });
});
after(async () => {
  await api.stop();
  slack.stop();
  telegram.stop();
  await mail.stop();
});

const newDestination = async (more: object = {}): Promise<Json> => {
  const body = { name: 'Ops', channel: 'slack', slack: { webhook_url: `${slack.url}/hook` }, ...more };
  const answer = await api.post(DESTINATIONS, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
/** A campaign that sends its alerts to these destinations. */
const newCampaign = async (ids: string[], name = 'Spring offer'): Promise<string> => {
  const notifications = { mode: 'override', destination_ids: ids };
  const body = { ...CAMPAIGN, name, notifications };
  return (await api.post('/api/v1/campaigns', body)).body.id;
};
const readDestination = async (id: string): Promise<Json> => (await api.get(`${DESTINATIONS}/${id}`)).body;

/** Dispatches what is due after this time. */
async function dispatchAfter(ms: number, change: Partial<DispatchParts> = {}): Promise<void> {
  const now = new Date(Date.now() + ms);
  const parts = { ...api.domains.delivery.dependencies.dispatching, clock: () => now, ...change };
  while (await dispatchDue(parts));
}
/** What the Slack double received since `received` had `from` requests, as texts. */
const slackTexts = (from: number): string[] => slack.received.slice(from).map(({ body }) => JSON.stringify(body));

describe('messages about alerts', () => {
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
    const body = { ...CAMPAIGN, notifications: { mode: 'override', destination_ids: ids } };
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

  test('§2.8.42 in a network that the operator allows, a Slack URL may be http', async () => {
    assert.match(slack.url, /^http:/);
    assert.equal((await newDestination()).is_active, true);
    for (const webhook_url of ['http://192.168.0.1/hook', 'http://198.51.100.1/hook']) {
      const answer = await api.post(DESTINATIONS, { name: 'Ops', channel: 'slack', slack: { webhook_url } });
      assert.deepEqual(itemsOf(answer), ['body.slack.webhook_url not_https']);
    }
  });

  test('§2.8.50 alerts of a campaign within a minute are one message a destination, of 20 lines and the number of the others', async () => {
    const one = await newDestination();
    const campaign = await newCampaign([one.id]);
    const before = slack.received.length;
    for (let count = 0; count < 23; count += 1) await raiseAlert(api, campaign);
    await relayAll(api);
    await dispatchAfter(30 * SECOND_MS);
    assert.equal(slack.received.length, before);
    await dispatchAfter(61 * SECOND_MS);
    assert.equal(slack.received.length, before + 1);
    const { blocks, text } = slack.received[before]!.body;
    assert.deepEqual(blocks[0].text.text, 'Spring offer: open · 23 alerts');
    assert.equal(blocks.filter(({ type }: Json) => type === 'section').length, 20);
    assert.equal(blocks.at(-1).elements[0].text, 'and 3 more');
    assert.ok(text.startsWith('*Spring offer'), text);
    const { last_delivery_status, consecutive_failures } = await readDestination(one.id);
    assert.deepEqual([last_delivery_status, consecutive_failures], [200, 0]);
    await dispatchAfter(10 * MINUTE_MS);
    assert.equal(slack.received.length, before + 1);
  });

  test('§2.8.51 a line has tag, severity, country, device, target, landing, the labels asked for and the link', async () => {
    const one = await newDestination({ included_label_keys: ['team'] });
    const campaign = await newCampaign([one.id]);
    const before = slack.received.length;
    await raiseAlert(api, campaign, { labels: { team: 'emea', secret: 'not this' } });
    await relayAll(api);
    await dispatchAfter(61 * SECOND_MS);
    const section: string = slack.received[before]!.body.blocks[1].text.text;
    const visible = section.replaceAll('\u200b', '').split('\n');
    assert.deepEqual(visible, [
      '*Plays sound (medium)*',
      'Country: `United States (US)`',
      visible[2],
      'Target: `https://shop.example/`',
      'Landing: `https://offer.example/landing`',
      'team: `emea`',
      '<https://adsweep.example/r/tokentokentokentoken12|Open the report>',
    ]);
    assert.match(visible[2]!, /^Device: `.*Chrome.*`$/);
  });

  test('§2.8.51 the link leads to the public report, or for the version internal to the report_url of the scan', async () => {
    const scan = (await api.post('/api/v1/scans', PAGE)).body;
    const { report_token } = (await api.scans.find(ORGANIZATIONS.ours, scan.id))!;
    const [shared, inside] = [await newDestination(), await newDestination({ version: 'internal' })];
    const linkTo = async ({ id }: Json): Promise<string | undefined> => {
      const campaign = await newCampaign([id], 'Linked');
      const before = slack.received.length;
      await raiseAlert(api, campaign, { report_token }, { entry_id: id }, { scanId: scan.id });
      await relayAll(api);
      await dispatchAfter(61 * SECOND_MS);
      return /<([^|>]+)\|Open the report>/.exec(slackTexts(before).find((text) => text.includes('Linked'))!)?.[1];
    };
    assert.equal(await linkTo(shared), scan.public_report_url);
    assert.equal(await linkTo(inside), scan.report_url);
  });

  test('§2.8.51 a tag that only the operator sees is not named in messages', async () => {
    const one = await newDestination();
    const campaign = await newCampaign([one.id], 'Secretive');
    const before = slack.received.length;
    await raiseAlert(api, campaign, {}, { tag_display_name: 'Secret name', tag_slug: 'autosound' });
    await relayAll(api);
    const { dispatching } = api.domains.delivery.dependencies;
    const readTags: typeof dispatching.compose.readTags = async (...asked) => {
      const tags = new Map(await dispatching.compose.readTags(...asked));
      return tags.set('autosound', { ...tags.get('autosound')!, visibility: 'hidden' });
    };
    await dispatchAfter(61 * SECOND_MS, { compose: { ...dispatching.compose, readTags } });
    const [text = ''] = slackTexts(before);
    assert.match(text, /\*Hidden tag\*/);
    assert.ok(!/Secret name|autosound|medium/.test(text), text);
  });

  test('§2.8.50 the most severe findings are first, and the subject of a mail names them', async () => {
    const [chat, mailbox] = [
      await newDestination(),
      await newDestination({ channel: 'email', slack: undefined, email: { address: 'ops@client.example' } }),
    ];
    const campaign = await newCampaign([chat.id, mailbox.id], 'Severe');
    const before = slack.received.length;
    for (const severity of ['low', null, 'high', 'medium'] as const)
      await raiseAlert(api, campaign, {}, { severity, tag_display_name: `Finding ${severity}` });
    await relayAll(api);
    await dispatchAfter(61 * SECOND_MS);
    const { blocks } = slack.received[before]!.body;
    const headings = blocks.slice(1).map(({ text }: Json) => text.text.replaceAll('\u200b', '').split('\n')[0]);
    assert.deepEqual(headings, [
      '*Finding high (high)*',
      '*Finding medium (medium)*',
      '*Finding low (low)*',
      '*Finding null*',
    ]);
    const { headers } = partsOf(mail.received.at(-1)!.source);
    const [, subject = ''] = /^Subject: (.*)/m.exec(headers)!;
    const words = subject.replaceAll(/=\?UTF-8\?Q\?(.*?)\?=\s*/gi, (_, coded: string) => coded.replaceAll('_', ' '));
    assert.match(words, /^Severe\S* open .* 4 alerts\S* Finding high .* Finding medium .* Finding low/);
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
    slackReply = () => ({ status: 503, body: 'not now' });
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
    slackReply = () => ({ status: 200 });
    await dispatchAfter(90 * SECOND_MS);
    assert.equal(slack.received.length, before + 3);
    const again = await readDestination(one.id);
    assert.deepEqual([again.consecutive_failures, again.failing_since, again.last_delivery_error], [0, null, null]);
  });

  test('§2.8.55 a destination is switched off after a day without success, and is_active starts it anew with what waits', async () => {
    const one = await newDestination();
    const campaign = await newCampaign([one.id], 'Off');
    slackReply = () => ({ status: 404, body: 'no_service' });
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
    slackReply = () => ({ status: 200 });
    const { body } = await api.call('PATCH', `${DESTINATIONS}/${one.id}`, { body: { is_active: true } });
    assert.deepEqual([body.is_active, body.failing_since, body.consecutive_failures], [true, null, 0]);
    // By the clock of the server its message has waited for a moment only.
    await dispatchAfter(62 * SECOND_MS);
    assert.ok(slackTexts(before).some((text) => text.includes('Off: open')));
  });

  test('§2.8.56 one message that is refused does not hold back others', async () => {
    const one = await newDestination();
    const [poison, fine] = [await newCampaign([one.id], 'Poison'), await newCampaign([one.id], 'Fine')];
    slackReply = (body) =>
      JSON.stringify(body).includes('Poison') ? { status: 400, body: 'invalid_blocks' } : { status: 200 };
    const before = slack.received.length;
    await raiseAlert(api, poison);
    await raiseAlert(api, fine);
    await relayAll(api);
    await dispatchAfter(62 * SECOND_MS);
    await dispatchAfter(68 * SECOND_MS);
    slackReply = () => ({ status: 200 });
    assert.ok(slackTexts(before).some((text) => text.includes('Fine')));
  });

  test('§2.8.54 a message that is refused for a day is given up, and its destination, which takes others, stays', async () => {
    const one = await newDestination();
    const [refused, fine] = [await newCampaign([one.id], 'Refused'), await newCampaign([one.id], 'Taken')];
    slackReply = (body) => ({ status: JSON.stringify(body).includes('Refused') ? 400 : 200 });
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
    slackReply = () => ({ status: 200 });
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

  test('§2.8.59 Telegram gets the message from the bot, and the token is in no answer and no failure', async () => {
    const one = await newDestination({
      channel: 'telegram',
      slack: undefined,
      telegram: { bot_token: TOKEN, chat_id: -42 },
    });
    const campaign = await newCampaign([one.id], 'Chat & <b>friends</b>');
    await raiseAlert(api, campaign);
    await relayAll(api);
    telegramReply = () => ({
      status: 429,
      body: '{"ok":false,"description":"slow down","parameters":{"retry_after":30}}',
    });
    await dispatchAfter(61 * SECOND_MS);
    const failed = await readDestination(one.id);
    assert.match(failed.last_delivery_error, /^Telegram answered 429: slow down/);
    assert.ok(Date.parse(failed.paused_until) - Date.parse(failed.failing_since) >= 30_000);
    telegramReply = () => ({ status: 200, body: '{"ok":true,"result":{}}' });
    await dispatchAfter(100 * SECOND_MS);
    const { path, body } = telegram.received.at(-1)!;
    assert.equal(path, `/bot${TOKEN}/sendMessage`);
    assert.deepEqual([body.chat_id, body.parse_mode, body.link_preview_options], [-42, 'HTML', { is_disabled: true }]);
    assert.ok(body.text.startsWith('<b>Chat &amp; &lt;b&gt;friends&lt;/\u200bb&gt;:'), body.text);
    telegramReply = () => ({ status: 401, body: `{"ok":false,"description":"bad ${TOKEN}"}` });
    const tried = await api.post(`${DESTINATIONS}/${one.id}/test`);
    assert.deepEqual([tried.body.success, tried.body.status], [false, 401]);
    for (const text of [tried.text, JSON.stringify(await readDestination(one.id))]) assert.ok(!text.includes(TOKEN));
  });

  test('§2.8.59 a mail arrives over TLS, with the campaign and the status first', async () => {
    const one = await newDestination({
      channel: 'email',
      slack: undefined,
      email: { address: 'ops@customer.example' },
    });
    const campaign = await newCampaign([one.id], 'Autumn <script>');
    await raiseAlert(api, campaign);
    await relayAll(api);
    await dispatchAfter(61 * SECOND_MS);
    const { source, to, secure } = mail.received.at(-1)!;
    assert.deepEqual([to, secure], [['ops@customer.example'], true]);
    const { headers, bodies } = partsOf(source);
    assert.match(headers, /^Subject: .*Autumn/m);
    assert.match(String(bodies.get('text/plain')), /Plays sound \(medium\)/);
    const html = String(bodies.get('text/html'));
    assert.ok(html.includes('Autumn &lt;script&gt;') && !html.includes('<script'), html.slice(0, 500));
  });

  test('§2.8.60 the test button sends a message at once, and counts for nothing', async () => {
    const one = await newDestination();
    const before = slack.received.length;
    const { body } = await api.post(`${DESTINATIONS}/${one.id}/test`);
    assert.deepEqual(body, { success: true, status: 200, error: null });
    assert.match(slackTexts(before)[0]!, /This is a test/);
    slackReply = () => ({ status: 302, headers: { location: `${slack.url}/elsewhere` } });
    const redirected = (await api.post(`${DESTINATIONS}/${one.id}/test`)).body;
    slackReply = () => ({ status: 200 });
    assert.deepEqual([redirected.success, redirected.status], [false, 302]);
    assert.match(redirected.error, /redirects are not followed/);
    assert.equal(slack.received.length, before + 2);
    const { consecutive_failures, last_delivery_at } = await readDestination(one.id);
    assert.deepEqual([consecutive_failures, last_delivery_at], [0, null]);
    assert.equal((await api.post(`${DESTINATIONS}/${one.id}/test`, undefined, { key: KEYS.theirs })).status, 404);
  });
});

test('§2.8.63 a message has a picture of its first alert: uploaded to Telegram, inside mails, by its public address in Slack', async () => {
  const made = (await api.post('/api/v1/scans', PAGE)).body;
  const scan = (await api.scans.find(ORGANIZATIONS.ours, made.id))!;
  const jpeg = await sharp({ create: { width: 900, height: 4_000, channels: 3, background: '#336699' } })
    .jpeg()
    .toBuffer();
  const capture = captureOf(['https://shop.example/'], {});
  capture.landings[0]!.screenshot = 'landing-0.jpeg';
  const summary = await storeCapture(api, made.id, capture, [{ name: 'landing-0.jpeg', bytes: jpeg }]);
  await api.store.collection<ScanRecord>('scans').updateOne({ _id: made.id }, { $set: { capture: summary } });
  const some = [
    await newDestination(),
    await newDestination({ channel: 'telegram', slack: undefined, telegram: { bot_token: TOKEN, chat_id: 7 } }),
    await newDestination({ channel: 'email', slack: undefined, email: { address: 'pictures@customer.example' } }),
  ];
  const campaign = await newCampaign(
    some.map(({ id }) => id),
    'Pictures',
  );
  const before = slack.received.length;
  telegramReply = () => ({ status: 200, body: '{"ok":true}' });
  // Slack cannot load a picture from a private address, and then refuses the message.
  slackReply = (body) => ({ status: JSON.stringify(body).includes('picture.jpg') ? 400 : 200 });
  const alerted = { report_token: scan.report_token };
  await raiseAlert(api, campaign, alerted, {}, { scanId: made.id });
  await relayAll(api);
  await dispatchAfter(61 * SECOND_MS);
  slackReply = () => ({ status: 200 });
  const sent = slackTexts(before).filter((text) => text.includes('Pictures'));
  assert.equal(sent.length, 2);
  const address = /https:\/\/adsweep\.example(\/r\/[\w-]+\/picture\.jpg)/.exec(sent[0]!)![1]!;
  assert.ok(!sent[1]!.includes('picture.jpg'));
  const served = await fetch(`http://127.0.0.1:${api.port}${address}`);
  assert.deepEqual([served.status, served.headers.get('content-type')], [200, 'image/jpeg']);
  const { format, width, height } = await sharp(Buffer.from(await served.arrayBuffer())).metadata();
  assert.deepEqual([format, width, height], ['jpeg', 600, 1_500]);
  assert.equal((await api.get(address.replace(scan.report_token, 'AbCdEfGhIjKlMnOpQrStUw'))).status, 404);
  const photo = telegram.received.at(-1)!;
  assert.equal(photo.path, `/bot${TOKEN}/sendPhoto`);
  assert.match(photo.type, /^multipart\/form-data/);
  assert.match(photo.text, /name="photo"; filename="alert\.jpg"\r\nContent-Type: image\/jpeg\r\n\r\n\u00ff\u00d8/);
  assert.match(photo.text, /name="caption"\r\n\r\n<b>Pictures/);
  const { bodies } = partsOf(mail.received.at(-1)!.source);
  assert.deepEqual([...bodies.keys()], ['text/plain', 'text/html', 'image/jpeg']);
  assert.match(String(bodies.get('text/html')), /<img src="cid:screenshot"/);
});
