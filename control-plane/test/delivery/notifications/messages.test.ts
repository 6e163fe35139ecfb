import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { raiseAlert, relayAll } from '../../support/alert-doubles.ts';
import { type AlertReceivers, alertReceivers, DESTINATIONS, TELEGRAM_TOKEN } from '../../support/alert-receivers.ts';
import { partsOf } from '../../support/mail-server.ts';
import { itemsOf, type Json, ORGANIZATIONS, PAGE } from '../../support/running-api.ts';
import { captureOf } from '../../support/running-farm.ts';
import { storeCapture } from '../../support/store-capture.ts';

const [SECOND_MS, MINUTE_MS] = [1_000, 60_000];

let receivers: AlertReceivers;
before(async () => {
  receivers = await alertReceivers();
});
after(() => receivers.stop());

describe('what messages about alerts say', () => {
  test('§2.8.42 in a network that the operator allows, a Slack URL may be http', async () => {
    assert.match(receivers.slack.url, /^http:/);
    assert.equal((await receivers.newDestination()).is_active, true);
    for (const webhook_url of ['http://192.168.0.1/hook', 'http://198.51.100.1/hook']) {
      const answer = await receivers.api.post(DESTINATIONS, { name: 'Ops', channel: 'slack', slack: { webhook_url } });
      assert.deepEqual(itemsOf(answer), ['body.slack.webhook_url not_https']);
    }
  });

  test('§2.8.50 alerts of a campaign within a minute are one message a destination, of 20 lines and the number of the others', async () => {
    const one = await receivers.newDestination();
    const campaign = await receivers.newCampaign([one.id]);
    const before = receivers.slack.received.length;
    for (let count = 0; count < 23; count += 1) await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    await receivers.dispatchAfter(30 * SECOND_MS);
    assert.equal(receivers.slack.received.length, before);
    await receivers.dispatchAfter(61 * SECOND_MS);
    assert.equal(receivers.slack.received.length, before + 1);
    const { blocks, text } = receivers.slack.received[before]!.body;
    assert.deepEqual(blocks[0].text.text, 'Spring offer: open · 23 alerts');
    assert.equal(blocks.filter(({ type }: Json) => type === 'section').length, 20);
    assert.equal(blocks.at(-1).elements[0].text, 'and 3 more');
    assert.ok(text.startsWith('*Spring offer'), text);
    const { last_delivery_status, consecutive_failures } = await receivers.readDestination(one.id);
    assert.deepEqual([last_delivery_status, consecutive_failures], [200, 0]);
    await receivers.dispatchAfter(10 * MINUTE_MS);
    assert.equal(receivers.slack.received.length, before + 1);
  });

  test('§2.8.51 a line has tag, severity, country, device, target, landing, the labels asked for and the link', async () => {
    const one = await receivers.newDestination({ included_label_keys: ['team'] });
    const campaign = await receivers.newCampaign([one.id]);
    const before = receivers.slack.received.length;
    await raiseAlert(receivers.api, campaign, { labels: { team: 'emea', secret: 'not this' } });
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    const section: string = receivers.slack.received[before]!.body.blocks[1].text.text;
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

  test('§2.8.51 a message that is sent late, after one about a later change, says what has become of its alert', async () => {
    const one = await receivers.newDestination({ included_statuses: ['open', 'resolved'] });
    const campaign = await receivers.newCampaign([one.id], 'Overtaken');
    const alertId = await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    receivers.replies.slack = () => ({ status: 503 });
    await receivers.dispatchAfter(61 * SECOND_MS);
    receivers.replies.slack = () => ({ status: 200 });
    const body = { status: 'resolved' };
    assert.equal((await receivers.api.call('PATCH', `/api/v1/alerts/${alertId}/status`, { body })).status, 204);
    await relayAll(receivers.api);
    const before = receivers.slack.received.length;
    await receivers.dispatchAfter(10 * MINUTE_MS);
    const texts = receivers.slackTexts(before).filter((text) => text.includes('Overtaken'));
    const saysNow = texts.map((text) => [/Overtaken: (\w+)/.exec(text)![1], text.includes('Now: `resolved`')]);
    assert.deepEqual(Object.fromEntries(saysNow), { open: true, resolved: false });
  });

  test('§2.8.51 the link leads to the public report, or for the version internal to the report_url of the scan', async () => {
    const scan = (await receivers.api.post('/api/v1/scans', PAGE)).body;
    const { report_token } = (await receivers.api.scans.find(ORGANIZATIONS.ours, scan.id))!;
    const [shared, inside] = [
      await receivers.newDestination(),
      await receivers.newDestination({ version: 'internal' }),
    ];
    const linkTo = async ({ id }: Json): Promise<string | undefined> => {
      const campaign = await receivers.newCampaign([id], 'Linked');
      const before = receivers.slack.received.length;
      await raiseAlert(receivers.api, campaign, { report_token }, { entry_id: id }, { scanId: scan.id });
      await relayAll(receivers.api);
      await receivers.dispatchAfter(61 * SECOND_MS);
      return /<([^|>]+)\|Open the report>/.exec(
        receivers.slackTexts(before).find((text) => text.includes('Linked'))!,
      )?.[1];
    };
    assert.equal(await linkTo(shared), scan.public_report_url);
    assert.equal(await linkTo(inside), scan.report_url);
  });

  test('§2.8.51 a tag that only the operator sees is not named in messages', async () => {
    const one = await receivers.newDestination();
    const campaign = await receivers.newCampaign([one.id], 'Secretive');
    const before = receivers.slack.received.length;
    await raiseAlert(receivers.api, campaign, {}, { tag_display_name: 'Secret name', tag_slug: 'autosound' });
    await relayAll(receivers.api);
    const { dispatching } = receivers.api.domains.delivery.dependencies;
    const readTags: typeof dispatching.compose.readTags = async (...asked) => {
      const tags = new Map(await dispatching.compose.readTags(...asked));
      return tags.set('autosound', { ...tags.get('autosound')!, visibility: 'hidden' });
    };
    await receivers.dispatchAfter(61 * SECOND_MS, { compose: { ...dispatching.compose, readTags } });
    const [text = ''] = receivers.slackTexts(before);
    assert.match(text, /\*Hidden tag\*/);
    assert.ok(!/Secret name|autosound|medium/.test(text), text);
  });

  test('§2.8.50 the most severe findings are first, and the subject of a mail names them', async () => {
    const [chat, mailbox] = [
      await receivers.newDestination(),
      await receivers.newDestination({ channel: 'email', slack: undefined, email: { address: 'ops@client.example' } }),
    ];
    const campaign = await receivers.newCampaign([chat.id, mailbox.id], 'Severe');
    const before = receivers.slack.received.length;
    for (const severity of ['low', null, 'high', 'medium'] as const)
      await raiseAlert(receivers.api, campaign, {}, { severity, tag_display_name: `Finding ${severity}` });
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    const { blocks } = receivers.slack.received[before]!.body;
    const headings = blocks.slice(1).map(({ text }: Json) => text.text.replaceAll('\u200b', '').split('\n')[0]);
    assert.deepEqual(headings, [
      '*Finding high (high)*',
      '*Finding medium (medium)*',
      '*Finding low (low)*',
      '*Finding null*',
    ]);
    const { headers } = partsOf(receivers.mail.received.at(-1)!.source);
    const [, subject = ''] = /^Subject: (.*)/m.exec(headers)!;
    const words = subject.replaceAll(/=\?UTF-8\?Q\?(.*?)\?=\s*/gi, (_, coded: string) => coded.replaceAll('_', ' '));
    assert.match(words, /^Severe\S* open .* 4 alerts\S* Finding high .* Finding medium .* Finding low/);
  });

  test('§2.8.59 Telegram gets the message from the bot, and the token is in no answer and no failure', async () => {
    const one = await receivers.newDestination({
      channel: 'telegram',
      slack: undefined,
      telegram: { bot_token: TELEGRAM_TOKEN, chat_id: -42 },
    });
    const campaign = await receivers.newCampaign([one.id], 'Chat & <b>friends</b>');
    await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    receivers.replies.telegram = () => ({
      status: 429,
      body: '{"ok":false,"description":"slow down","parameters":{"retry_after":30}}',
    });
    await receivers.dispatchAfter(61 * SECOND_MS);
    const failed = await receivers.readDestination(one.id);
    assert.match(failed.last_delivery_error, /^Telegram answered 429: slow down/);
    assert.ok(Date.parse(failed.paused_until) - Date.parse(failed.failing_since) >= 30_000);
    receivers.replies.telegram = () => ({ status: 200, body: '{"ok":true,"result":{}}' });
    await receivers.dispatchAfter(100 * SECOND_MS);
    const { path, body } = receivers.telegram.received.at(-1)!;
    assert.equal(path, `/bot${TELEGRAM_TOKEN}/sendMessage`);
    assert.deepEqual([body.chat_id, body.parse_mode, body.link_preview_options], [-42, 'HTML', { is_disabled: true }]);
    assert.ok(body.text.startsWith('<b>Chat &amp; &lt;b&gt;friends&lt;/\u200bb&gt;:'), body.text);
    receivers.replies.telegram = () => ({ status: 401, body: `{"ok":false,"description":"bad ${TELEGRAM_TOKEN}"}` });
    const tried = await receivers.api.post(`${DESTINATIONS}/${one.id}/test`);
    assert.deepEqual([tried.body.success, tried.body.status], [false, 401]);
    for (const text of [tried.text, JSON.stringify(await receivers.readDestination(one.id))])
      assert.ok(!text.includes(TELEGRAM_TOKEN));
  });

  test('§2.8.59 a mail arrives over TLS, with the campaign and the status first', async () => {
    const one = await receivers.newDestination({
      channel: 'email',
      slack: undefined,
      email: { address: 'ops@customer.example' },
    });
    const campaign = await receivers.newCampaign([one.id], 'Autumn <script>');
    await raiseAlert(receivers.api, campaign);
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    const { source, to, secure } = receivers.mail.received.at(-1)!;
    assert.deepEqual([to, secure], [['ops@customer.example'], true]);
    const { headers, bodies } = partsOf(source);
    assert.match(headers, /^Subject: .*Autumn/m);
    assert.match(String(bodies.get('text/plain')), /Plays sound \(medium\)/);
    const html = String(bodies.get('text/html'));
    assert.ok(html.includes('Autumn &lt;script&gt;') && !html.includes('<script'), html.slice(0, 500));
  });

  test('§2.8.63 a message has a picture of its first alert: uploaded to Telegram, inside mails, by its public address in Slack', async () => {
    const made = (await receivers.api.post('/api/v1/scans', PAGE)).body;
    const scan = (await receivers.api.scans.find(ORGANIZATIONS.ours, made.id))!;
    const jpeg = await sharp({ create: { width: 900, height: 4_000, channels: 3, background: '#336699' } })
      .jpeg()
      .toBuffer();
    const capture = captureOf(['https://shop.example/'], {});
    capture.landings[0]!.screenshot = 'landing-0.jpeg';
    const summary = await storeCapture(receivers.api, made.id, capture, [{ name: 'landing-0.jpeg', bytes: jpeg }]);
    await receivers.api.store
      .collection<ScanRecord>('scans')
      .updateOne({ _id: made.id }, { $set: { capture: summary } });
    const some = [
      await receivers.newDestination(),
      await receivers.newDestination({
        channel: 'telegram',
        slack: undefined,
        telegram: { bot_token: TELEGRAM_TOKEN, chat_id: 7 },
      }),
      await receivers.newDestination({
        channel: 'email',
        slack: undefined,
        email: { address: 'pictures@customer.example' },
      }),
    ];
    const campaign = await receivers.newCampaign(
      some.map(({ id }) => id),
      'Pictures',
    );
    const before = receivers.slack.received.length;
    receivers.replies.telegram = () => ({ status: 200, body: '{"ok":true}' });
    // Slack cannot load a picture from a private address, and then refuses the message.
    receivers.replies.slack = (body) => ({ status: JSON.stringify(body).includes('picture.jpg') ? 400 : 200 });
    const alerted = { report_token: scan.report_token };
    await raiseAlert(receivers.api, campaign, alerted, {}, { scanId: made.id });
    await relayAll(receivers.api);
    await receivers.dispatchAfter(61 * SECOND_MS);
    receivers.replies.slack = () => ({ status: 200 });
    const sent = receivers.slackTexts(before).filter((text) => text.includes('Pictures'));
    assert.equal(sent.length, 2);
    const address = /https:\/\/adsweep\.example(\/r\/[\w-]+\/picture\.jpg)/.exec(sent[0]!)![1]!;
    assert.ok(!sent[1]!.includes('picture.jpg'));
    const served = await fetch(`http://127.0.0.1:${receivers.api.port}${address}`);
    assert.deepEqual([served.status, served.headers.get('content-type')], [200, 'image/jpeg']);
    const { format, width, height } = await sharp(Buffer.from(await served.arrayBuffer())).metadata();
    assert.deepEqual([format, width, height], ['jpeg', 600, 1_500]);
    assert.equal((await receivers.api.get(address.replace(scan.report_token, 'AbCdEfGhIjKlMnOpQrStUw'))).status, 404);
    const photo = receivers.telegram.received.at(-1)!;
    assert.equal(photo.path, `/bot${TELEGRAM_TOKEN}/sendPhoto`);
    assert.match(photo.type, /^multipart\/form-data/);
    assert.match(photo.text, /name="photo"; filename="alert\.jpg"\r\nContent-Type: image\/jpeg\r\n\r\n\u00ff\u00d8/);
    assert.match(photo.text, /name="caption"\r\n\r\n<b>Pictures/);
    const { bodies } = partsOf(receivers.mail.received.at(-1)!.source);
    assert.deepEqual([...bodies.keys()], ['text/plain', 'text/html', 'image/jpeg']);
    assert.match(String(bodies.get('text/html')), /<img src="cid:screenshot"/);
  });
});
