import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { addFirstOrganization } from '../../src/accounts/add-organization.ts';
import { mailNext } from '../../src/forms/form-mail.ts';
import { keptSince } from '../../src/forms/form-submission.ts';
import { openMailer } from '../../src/platform/mail.ts';
import { MAIL_CERTIFICATE, partsOf, startMailServer } from '../support/mail-server.ts';
import { itemsOf, type Json, KEYS, type RunningApi, runningApi } from '../support/running-api.ts';

const OPERATORS = 'key-of-the-operator';
const CONTACT = { name: 'Ada', email: 'ada@example.com', message: 'Hello <b>you</b>' };
const INQUIRY = {
  name: 'Ada',
  email: 'ada@example.com',
  company: 'Example',
  country_code: 'PT',
  phone: null,
  use_case: '',
};
const SITE = 'https://www.example.com';
const DAY_MS = 86_400_000;
/** The names of the counters of forms in a minute, and of their bytes in a day. */
const [MINUTES, BYTES] = ['adsweep:requests:form', 'adsweep:requests:form-bytes'];

describe('forms of a website', () => {
  let api: RunningApi;
  let server: Awaited<ReturnType<typeof startMailServer>>;
  let mailer: ReturnType<typeof openMailer>;
  /** The status that the mail server refuses the next mail with; null: it takes it. */
  let refusal: number | null = null;
  before(async () => {
    server = await startMailServer({ refuse: (what) => (what === 'message' ? refusal : null) });
    mailer = openMailer({
      url: `smtp://127.0.0.1:${server.port}`,
      from: 'adsweep@example.net',
      tls: { ca: MAIL_CERTIFICATE, servername: 'localhost' },
    });
    const settings = {
      formOrigins: [SITE],
      trustedProxies: ['127.0.0.1', '10.0.0.0/8'],
      formsMailTo: ['team@example.com'],
    };
    api = await runningApi({ settings, mailer });
    await addFirstOrganization(api.accounts, OPERATORS, new Date());
  });
  after(async () => {
    await api.stop();
    await server.stop();
  });

  let clients = 0;
  /** Sends a form, from an address of its own unless `from` names one. */
  const send = (path: string, body: unknown, { from = `198.51.100.${++clients}`, headers = {} } = {}) =>
    api.post(path, body, { key: null, headers: { 'X-Forwarded-For': from, ...headers } });
  const list = async (query = ''): Promise<Json> =>
    (await api.get(`/api/v1/form-submissions${query}`, { key: OPERATORS })).body;
  const parts = () => ({
    ...{ forms: api.domains.forms.stores.forms, mailer, to: ['team@example.com'] },
    logger: createLogger('test', 'silent'),
  });
  const count = async () => (await list()).total;

  it('§4.5.23 are received without a credential, and listed for the operator alone', async () => {
    const { status, body } = await send('/api/forms/contact', {
      ...CONTACT,
      website: '',
      utm_source: 'news',
      company: null,
    });
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body), ['id', 'received_at']);
    const inquiry = await send('/api/forms/demo-inquiries', INQUIRY);
    assert.equal(inquiry.status, 201);
    const { items } = await list();
    assert.deepEqual(items[1], { ...body, form: 'contact', fields: CONTACT });
    const { phone: _, use_case: __, ...filled } = INQUIRY;
    assert.deepEqual(items[0].fields, filled, 'fields that are empty or unknown are not kept');
    assert.equal((await list('?form=contact')).total, 1);
    for (const key of [KEYS.ours, KEYS.theirs])
      assert.equal((await api.get('/api/v1/form-submissions', { key })).status, 403);
  });

  it('§4.5.23 are refused with all their problems, and nothing is kept', async () => {
    const before = await count();
    const answer = await send('/api/forms/contact', { name: ' ', email: 'nobody', message: 'x'.repeat(5_001) });
    assert.deepEqual(itemsOf(answer).toSorted(), [
      'body.email email_invalid',
      'body.message string_too_long',
      'body.name string_pattern_mismatch',
    ]);
    assert.deepEqual(
      itemsOf(await send('/api/forms/demo-inquiries', { ...INQUIRY, country_code: '12', company: undefined })),
      ['body.company missing', 'body.country_code string_pattern_mismatch'],
    );
    assert.equal((await send('/api/forms/contact', { ...CONTACT, blob: 'x'.repeat(70_000) })).status, 413);
    assert.equal((await send('/api/forms/other', CONTACT)).status, 404);
    assert.equal(await count(), before);
  });

  it('§4.5.23 whose trap is filled in are answered as all others and not kept', async () => {
    const before = await count();
    for (const website of ['https://spam.example', 1, { a: 1 }])
      assert.equal((await send('/api/forms/contact', { ...CONTACT, website })).status, 201);
    assert.equal(await count(), before);
  });

  it('§4.5.24 are limited to five a minute and address, which only trusted proxies can name', async () => {
    const statuses = async (from: (at: number) => string) => {
      const all: number[] = [];
      for (let at = 0; at < 6; at += 1)
        all.push((await send('/api/forms/contact', CONTACT, { from: from(at) })).status);
      return all;
    };
    const limited = [201, 201, 201, 201, 201, 429];
    assert.deepEqual(await statuses(() => '203.0.113.1'), limited);
    assert.deepEqual(
      await statuses((at) => `192.0.2.${at}, 203.0.113.2, 10.0.0.9`),
      limited,
      'a client cannot add hops',
    );
    assert.deepEqual(await statuses((at) => `[2001:db8:0:1::${at}]:443`), limited, 'an IPv6 client has many addresses');
    assert.deepEqual(await statuses((at) => `203.0.113.${50 + at}`), Array(6).fill(201));
    const refused = await send('/api/v1/contact', CONTACT, { from: '203.0.113.1' });
    assert.equal(refused.status, 429, 'the legacy path is the same form');
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  });

  /** As if a day's bytes were sent already: from an address, from a network, or in all by those who send seldom. */
  const sendBefore = (bytes: Record<string, number>) =>
    Promise.all(Object.entries(bytes).map(([who, sent]) => api.redis.client.set(`${BYTES}:${who}`, sent)));
  /** As if a minute had passed or, for `BYTES`, a day. */
  const forget = async (counters: string): Promise<void> => {
    const names = await api.redis.client.keys(`${counters}:*`);
    if (names.length > 0) await api.redis.client.del(names);
  };

  it('§4.5.24 of an address that has sent 512 KiB in a day, or a network 2 MiB, are refused with Retry-After, and others are not', async () => {
    const from = async (address: string) => {
      await forget(MINUTES);
      return (await send('/api/forms/contact', CONTACT, { from: address })).status;
    };
    await forget(BYTES);
    await sendBefore({ '203:0:113:7': 512 * 1024 - 20 });
    assert.deepEqual([await from('203.0.113.7'), await from('203.0.113.8')], [429, 201]);
    const { body, headers } = await send('/api/forms/demo-inquiries', INQUIRY, { from: '203.0.113.7' });
    assert.match(body.detail, /tomorrow/);
    const seconds = Number(headers.get('retry-after'));
    assert.ok(seconds > 3_600 && seconds <= DAY_MS / 1_000, `${seconds} s`);
    await sendBefore({ 'network 203:0': 2 * 1024 * 1024 - 20 });
    assert.deepEqual([await from('203.0.113.9'), await from('198.51.100.9')], [429, 201]);
    await forget(BYTES);
  });

  it('§4.5.25 are served at their legacy paths too, whose answers name the successor', async () => {
    for (const [form, body] of [
      ['contact', CONTACT],
      ['demo-inquiries', INQUIRY],
    ] as const)
      for (const sent of [body, {}]) {
        const { status, headers } = await send(`/api/v1/${form}`, sent);
        assert.equal(status, sent === body ? 201 : 422);
        assert.match(headers.get('deprecation') ?? '', /^@\d+$/);
        assert.equal(headers.get('link'), `</api/forms/${form}>; rel="successor-version"`);
      }
    for (const path of ['/api/v1/contact/', '/API/v1/Contact'])
      assert.match((await send(path, CONTACT)).headers.get('deprecation') ?? '', /^@\d+$/, path);
    assert.equal((await send('/api/forms/contact', CONTACT)).headers.get('deprecation'), null);
  });

  it('§4.5.26 can be read by pages of the listed origins alone, refusals too', async () => {
    const origin = async (headers: Record<string, string>, body: unknown = CONTACT) =>
      (await send('/api/forms/contact', body, { headers })).headers.get('access-control-allow-origin');
    assert.equal(await origin({ Origin: SITE }), SITE);
    assert.equal(await origin({ Origin: SITE }, {}), SITE);
    const { headers } = await send('/api/Forms/contact/', CONTACT, { headers: { Origin: SITE } });
    assert.equal(headers.get('access-control-allow-origin'), SITE, 'a path that the router accepts too');
    for (const other of ['https://example.com', `${SITE}.evil.example`, 'null', 'http://www.example.com'])
      assert.equal(await origin({ Origin: other }), null, other);
    const preflight = (Origin: string, path = '/api/forms/contact') =>
      api.call('OPTIONS', path, { key: null, headers: { Origin, 'Access-Control-Request-Method': 'POST' } });
    const allowed = await preflight(SITE);
    assert.deepEqual(
      [
        allowed.status,
        allowed.headers.get('access-control-allow-methods'),
        allowed.headers.get('access-control-allow-headers'),
      ],
      [204, 'POST', 'Content-Type'],
    );
    assert.equal(allowed.headers.get('access-control-allow-credentials'), null);
    assert.equal((await preflight('https://evil.example')).headers.get('access-control-allow-origin'), null);
    assert.equal((await preflight(SITE, '/api/v1/scans')).headers.get('access-control-allow-origin'), null);
  });

  it('§4.5.27 are mailed once, with the address to answer to, and again after a failure until they are given up', async () => {
    const later = (ms: number) => new Date(Date.now() + ms);
    await api.domains.forms.stores.forms.removeBefore(new Date());
    await send('/api/forms/contact', CONTACT);
    await send('/api/forms/demo-inquiries', INQUIRY);
    while (await mailNext(parts(), later(0)));
    assert.equal(server.received.length, await count());
    const first = server.received.find(({ source }) => source.includes('Subject: Contact: Ada'))!;
    assert.deepEqual([first.from, first.to], ['adsweep@example.net', ['team@example.com']]);
    const { headers, bodies } = partsOf(first.source);
    assert.match(headers, /^Reply-To: ada@example\.com\r?$/m);
    assert.match(bodies.get('text/html')!.toString(), /Hello &lt;b&gt;you/);
    assert.match(bodies.get('text/plain')!.toString(), /^message: Hello <b>you<\/b>\r?$/m);

    server.received.length = 0;
    await send('/api/forms/contact', CONTACT);
    refusal = 451;
    assert.equal(await mailNext(parts(), later(1_000)), true);
    assert.equal(await mailNext(parts(), later(1_000)), false, 'not due yet');
    refusal = null;
    assert.deepEqual(await Promise.all([mailNext(parts(), later(60_000)), mailNext(parts(), later(60_000))]), [
      true,
      false,
    ]);
    assert.equal(await mailNext(parts(), later(DAY_MS)), false);
    assert.equal(server.received.length, 1);

    for (const [status, at] of [
      [451, 4 * DAY_MS],
      [554, 0],
    ] as const) {
      await send('/api/forms/contact', CONTACT);
      refusal = status;
      assert.equal(await mailNext(parts(), later(at + 1_000)), true);
      assert.equal(await mailNext(parts(), later(9 * DAY_MS)), false, `given up after ${status}`);
    }
  });

  it('§4.5.27 cannot add headers or recipients to their mail', async () => {
    refusal = null;
    server.received.length = 0;
    const name = 'Ada\r\nBcc: evil@example.com\r\n\r\nBuy';
    const { status } = await send('/api/forms/contact', { ...CONTACT, name });
    assert.equal(status, 201);
    assert.equal(await mailNext(parts(), new Date()), true);
    const [mail] = server.received;
    assert.deepEqual(mail?.to, ['team@example.com']);
    assert.doesNotMatch(partsOf(mail!.source).headers, /^Bcc/im);
  });

  it('§4.5.24 take 16 MiB of texts a day in all, half of it first ones of their addresses, also when 40 are sent at once', async () => {
    await forget(BYTES);
    await forget(MINUTES);
    const room = 3 * (JSON.stringify(CONTACT).length + 10);
    await sendBefore({ 'all that ask seldom': 8 * 1024 * 1024 - room });
    const answers = await Promise.all(Array.from({ length: 40 }, () => send('/api/forms/contact', CONTACT)));
    assert.deepEqual(answers.filter(({ status }) => status === 201).length, 3);
    assert.equal(answers.find(({ status }) => status !== 201)!.body.code, 'rate_limited');
    await sendBefore({ '198:51:100:250': 52 * 1024 });
    await forget(MINUTES);
    const often = await send('/api/forms/contact', CONTACT, { from: '198.51.100.250' });
    assert.equal(often.status, 201, 'the other half is for those who have sent more');
    await forget(BYTES);
  });

  it('§4.5.23 are removed after 180 days', async () => {
    const { forms } = api.domains.forms.stores;
    const received_at = new Date(Date.now() - 181 * DAY_MS);
    await forms.insert({ _id: 'old', form: 'contact', fields: CONTACT, received_at });
    const before = await count();
    await forms.removeBefore(keptSince(new Date()));
    assert.equal(await count(), before - 1);
    assert.ok(!(await list('?limit=200')).items.some(({ id }: Json) => id === 'old'));
  });
});
