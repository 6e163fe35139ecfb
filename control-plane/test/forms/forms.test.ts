import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { addFirstOrganization } from '../../src/accounts/add-organization.ts';
import { mailNext } from '../../src/forms/form-mail.ts';
import { keptSince } from '../../src/forms/form-submission.ts';
import type { Mail, MailOutcome } from '../../src/platform/mail.ts';
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

describe('forms of a website', () => {
  let api: RunningApi;
  const mails: Mail[] = [];
  let outcome: MailOutcome = { sent: true, status: 250 };
  const mailer = {
    send: async (mail: Mail) => {
      mails.push(mail);
      return outcome;
    },
  };
  before(async () => {
    const settings = {
      formOrigins: [SITE],
      trustedProxies: ['127.0.0.1', '10.0.0.0/8'],
      formsMailTo: ['team@example.com'],
    };
    api = await runningApi({ settings, mailer });
    await addFirstOrganization(api.accounts, OPERATORS, new Date());
  });
  after(() => api.stop());

  let clients = 0;
  /** Sends a form, from an address of its own unless `from` names one. */
  const send = (path: string, body: unknown, { from = `198.51.100.${++clients}`, headers = {} } = {}) =>
    api.post(path, body, { key: null, headers: { 'X-Forwarded-For': from, ...headers } });
  const list = async (query = ''): Promise<Json> =>
    (await api.get(`/api/v1/form-submissions${query}`, { key: OPERATORS })).body;
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
    assert.equal((await send('/api/forms/contact', CONTACT)).headers.get('deprecation'), null);
  });

  it('§4.5.26 can be read by pages of the listed origins alone, refusals too', async () => {
    const origin = async (headers: Record<string, string>, body: unknown = CONTACT) =>
      (await send('/api/forms/contact', body, { headers })).headers.get('access-control-allow-origin');
    assert.equal(await origin({ Origin: SITE }), SITE);
    assert.equal(await origin({ Origin: SITE }, {}), SITE);
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
    const { forms } = api.domains.forms.stores;
    const parts = { forms, mailer, to: ['team@example.com'], logger: createLogger('test', 'silent') };
    const later = (ms: number) => new Date(Date.now() + ms);
    while (await mailNext(parts, later(0)));
    assert.equal(mails.length, await count());
    const first = mails.find(({ subject }) => subject === 'Contact: Ada')!;
    assert.deepEqual([first.to, first.replyTo], [['team@example.com'], 'ada@example.com']);
    assert.match(first.html, /Hello &lt;b&gt;you/);

    mails.length = 0;
    await send('/api/forms/contact', CONTACT);
    outcome = { sent: false, status: 451, isPermanent: false, reason: 'busy', cause: null };
    assert.equal(await mailNext(parts, later(1_000)), true);
    assert.equal(await mailNext(parts, later(1_000)), false, 'not due yet');
    outcome = { sent: true, status: 250 };
    assert.deepEqual(await Promise.all([mailNext(parts, later(60_000)), mailNext(parts, later(60_000))]), [
      true,
      false,
    ]);
    assert.equal(await mailNext(parts, later(DAY_MS)), false);
    assert.equal(mails.length, 2);

    await send('/api/forms/contact', CONTACT);
    outcome = { sent: false, status: null, isPermanent: false, reason: 'no answer', cause: null };
    await mailNext(parts, later(4 * DAY_MS));
    assert.equal(await mailNext(parts, later(9 * DAY_MS)), false, 'given up');
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
