import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { returnPath } from '../../src/console/session/return-path.ts';
import { isSameOrigin } from '../../src/console/session/same-origin.ts';
import { sessionIdOf } from '../../src/console/session/session-cookie.ts';
import { formToken, isOwnForm } from '../../src/console/session/sessions.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { KEYS, type RunningApi, runningApi } from '../support/running-api.ts';

describe('the sessions of the console', () => {
  let api: RunningApi;
  let browser: ReturnType<typeof consoleBrowser>;
  before(async () => {
    api = await runningApi();
    browser = consoleBrowser(api);
  });
  after(() => api.stop());

  test('a page of nobody leads to the sign-in and back to itself', async () => {
    const asked = await browser.get('/scans?status=failed');
    assert.deepEqual([asked.status, asked.to], [303, '/console/sign-in?to=%2Fconsole%2Fscans%3Fstatus%3Dfailed']);
    const form = await browser.get('/sign-in?to=%2Fconsole%2Fscans%3Fstatus%3Dfailed');
    assert.match(form.text, /name="to" value="\/console\/scans\?status=failed"/);
    const { to } = await browser.post('/sign-in', { key: KEYS.ours, to: '/console/scans?status=failed' });
    assert.equal(to, '/console/scans?status=failed');
  });

  test('a wrong key is refused in words, and no cookie is set', async () => {
    for (const key of ['', 'wrong', 'with spaces', '\u0000', 'x'.repeat(600)]) {
      const { status, text, setCookie } = await browser.post('/sign-in', { key });
      assert.deepEqual([status, setCookie], [401, ''], key);
      assert.match(text, /This is not a valid API key/);
      assert.doesNotMatch(text, /value="wrong"/);
    }
  });

  test('the cookie cannot be read by scripts, is not sent by forms of other sites, and needs TLS; the key is in no page', async () => {
    const { setCookie } = await browser.post('/sign-in', { key: KEYS.ours });
    assert.match(setCookie, /^adsweep_console=[\w-]{43}; Path=\/console; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/);
    const { text } = await browser.get('', setCookie.split(';', 1)[0]);
    assert.doesNotMatch(text, new RegExp(KEYS.ours));
  });

  test('a session that somebody planted before the sign-in is not the one after it, and ends', async () => {
    const planted = await browser.signIn(KEYS.theirs);
    const { setCookie } = await browser.post('/sign-in', { key: KEYS.ours }, planted);
    assert.notEqual(setCookie.split(';', 1)[0], planted);
    assert.equal((await browser.get('/scans', planted)).status, 303);
    const invented = `adsweep_console=${'A'.repeat(43)}`;
    assert.notEqual(
      (await browser.post('/sign-in', { key: KEYS.ours }, invented)).setCookie.split(';', 1)[0],
      invented,
    );
    assert.equal((await browser.get('/scans', invented)).status, 303);
  });

  test('a sign-out ends the session itself: a copy of its cookie is worth nothing', async () => {
    const cookie = await browser.signIn();
    const token = await browser.tokenOf('/scans', cookie);
    const out = await browser.post('/sign-out', { token }, cookie);
    assert.deepEqual([out.status, out.to], [303, '/console/sign-in']);
    assert.match(out.setCookie, /^adsweep_console=; .*Max-Age=0/);
    assert.equal((await browser.get('/scans', cookie)).to, '/console/sign-in?to=%2Fconsole%2Fscans');
  });

  test('a session ends with its key', async () => {
    const { body: key } = await api.post('/api/v1/account/api-keys', { name: 'short-lived' });
    const cookie = await browser.signIn(key.full_key);
    assert.equal((await browser.get('/scans', cookie)).status, 200);
    await fetch(`http://127.0.0.1:${api.port}/api/v1/account/api-keys/${key.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${KEYS.ours}` },
    });
    const after = await browser.get('/scans', cookie);
    assert.deepEqual([after.status, after.to], [303, '/console/sign-in?to=%2Fconsole%2Fscans']);
  });

  test('what is stored of a session reveals neither its id nor its key', async () => {
    const cookie = await browser.signIn();
    const stored = JSON.stringify(await api.store.collection('console_sessions').find({}).toArray());
    for (const secret of [cookie.split('=')[1]!, KEYS.ours, Buffer.from(KEYS.ours).toString('base64')])
      assert.ok(!stored.includes(secret));
  });

  test('a form without the token of the session, with that of another, or from another site changes nothing', async () => {
    const [cookie, other] = [await browser.signIn(), await browser.signIn()];
    const action = {
      method: 'POST',
      path: '/api/v1/campaign-groups',
      body: '{"name":"Forged"}',
      done: 'created',
      back: '/console',
    };
    const token = await browser.tokenOf('/scans', cookie);
    const foreign = await browser.tokenOf('/scans', other);
    for (const wrong of ['', foreign, `${token}x`, token.split('.')[0]!])
      assert.equal((await browser.post('/act', { ...action, token: wrong }, cookie)).status, 403, wrong);
    assert.equal((await browser.post('/act', action, cookie)).status, 403);
    const sites: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const headers of sites) {
      assert.equal(
        (await browser.post('/act', { ...action, token }, cookie, headers)).status,
        403,
        JSON.stringify(headers),
      );
      assert.equal(
        (await browser.post('/sign-in', { key: KEYS.ours }, '', headers)).status,
        403,
        JSON.stringify(headers),
      );
    }
    assert.equal((await browser.get(`/act?${new URLSearchParams({ ...action, token })}`, cookie)).status, 404);
    const groups = async () => (await api.get('/api/v1/campaign-groups')).text;
    assert.doesNotMatch(await groups(), /Forged/);
    assert.equal((await browser.post('/act', { ...action, token }, cookie)).status, 303);
    assert.match(await groups(), /Forged/);
  });

  test('an action of a form has the bounds of a request to the API: of its path, and of the values and depth of its body', async () => {
    const cookie = await browser.signIn();
    const token = await browser.tokenOf('/scans', cookie);
    const path = '/api/v1/campaign-groups';
    const act = async (form: Record<string, string>) =>
      (await browser.post('/act', { token, method: 'POST', path, body: '{}', ...form }, cookie)).status;
    const names = Array.from({ length: 5_000 }, (_, at) => `name${at}`).join('&');
    assert.equal(await act({ path: `${path}?${names}` }), 413);
    assert.equal(await act({ body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }), 422);
    assert.equal(await act({ body: `[${'{},'.repeat(100_000)}0]` }), 422);
    assert.equal(await act({ body: '{' }), 422);
  });

  test('a form with a list that no body of the API could have is refused, and what was sent does not come back many times', async () => {
    const cookie = await browser.signIn();
    const token = await browser.tokenOf('/scans', cookie);
    const forms: [path: string, field: string, unit: string, others?: Record<string, string>][] = [
      ['/scans/bulk', 'target', 'a\n'],
      ['/scans/new', 'labels', 'a=b\n'],
      ['/campaigns/new', 'countries', 'DE '],
      ['/campaigns/new', 'weekly', 'Monday 8\n'],
      ['/settings', 'contact_emails', 'a\n', { what: 'account' }],
      ['/settings', 'labels', 'a=b\n', { what: 'labels' }],
      ['/settings', 'redirect_uris', 'a\n', { what: 'client' }],
      ['/policies/new', 'entries', 'tag: a\n'],
      ['/rules/new', 'scans', 'a ', { intent: 'test', config: '{}' }],
    ];
    for (const [path, field, unit, others] of forms) {
      const sent = unit.repeat(50_000);
      const { status, text } = await browser.post(path, { token, ...others, [field]: sent }, cookie);
      assert.deepEqual([status, text.length < 2 * sent.length], [422, true], `${path} ${field}: ${text.length}`);
    }
    const long = 'x'.repeat(300_000);
    const { text } = await browser.post('/scans/new', { token, target: long, kind: 'ad_tag' }, cookie);
    assert.ok(text.length < 2 * long.length, `${text.length}`);
  });

  test('no page can be framed or runs a script of another place, the sign-in and errors included', async () => {
    const cookie = await browser.signIn();
    for (const [path, sent] of [
      ['/sign-in', ''],
      ['/scans', cookie],
      ['/nowhere', cookie],
      ['/scans/none', cookie],
    ] as const) {
      const { headers } = await browser.get(path, sent);
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
      ])
        assert.ok(policy.includes(part), `${path}: ${part}`);
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
    }
  });

  test('no address of another site is redirected to, after a sign-in or an action', async () => {
    const cookie = await browser.signIn();
    const elsewhere = [
      'https://evil.example/',
      '//evil.example/console',
      '/\\evil.example',
      'javascript:alert(1)',
      '/console/../api/v1/scans',
      '/console@evil.example',
      '/consolex',
      '\u0009//evil.example',
      '',
    ];
    for (const to of elsewhere) {
      assert.equal((await browser.post('/sign-in', { key: KEYS.ours, to })).to, '/console', to);
      assert.equal((await browser.get(`/sign-in?${new URLSearchParams({ to })}`, cookie)).to, '/console', to);
      const token = await browser.tokenOf('/scans', cookie);
      const action = { token, method: 'POST', path: '/api/v1/campaigns/none/run', back: to };
      const { text, status } = await browser.post('/act', action, cookie);
      assert.equal(status, 404);
      assert.match(text, /<p><a href="\/console">Go back/, to);
    }
  });

  test('a request that says of no page where it leads is one of the console itself', () => {
    assert.equal(returnPath('/console/scans?status=failed#x', '/console'), '/console/scans?status=failed');
    assert.equal(returnPath('/below/console/scans', '/below/console'), '/below/console/scans');
    assert.equal(returnPath(null, '/console'), '/console');
  });

  test('a form is of the same origin by what the browser says, also behind a proxy that has another address', () => {
    const url = 'https://adsweep.example/below';
    assert.equal(isSameOrigin({ 'sec-fetch-site': 'same-origin' }, url), true);
    assert.equal(isSameOrigin({ origin: 'https://adsweep.example', host: '10.0.0.1:8080' }, url), true);
    assert.equal(isSameOrigin({ origin: 'http://localhost:8080', host: 'localhost:8080' }, url), true);
    assert.equal(isSameOrigin({ host: 'localhost:8080' }, url), false);
    assert.equal(isSameOrigin({ origin: 'https://adsweep.example', 'sec-fetch-site': 'cross-site' }, url), false);
  });

  test('the token of a form is another one on each page, and holds for its session alone', () => {
    const [one, other] = [formToken('session'), formToken('session')];
    assert.notEqual(one, other);
    for (const token of [one, other])
      assert.deepEqual([isOwnForm('session', token), isOwnForm('another', token)], [true, false]);
    for (const token of ['', '.', 'a.b', `x${one}`]) assert.equal(isOwnForm('session', token), false);
  });

  test('the first cookie of the name counts', () => {
    assert.equal(sessionIdOf({ cookie: 'a=b; adsweep_console=one; adsweep_console=two' }), 'one');
    assert.equal(sessionIdOf({}), '');
  });
});
