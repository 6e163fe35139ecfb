import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listen } from '@adsweep/shared/service/listen.ts';
import type { OrganizationRecord } from '../../src/accounts/organizations/organization.ts';
import { clientApp } from '../../src/compose/create-app.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { openBrowser } from '../support/oauth-client.ts';
import { NODE_TOKEN, PUBLIC_URL } from '../support/open-plane.ts';
import { KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../support/running-api.ts';

const CONSOLE = 'https://adsweep.example/console';

describe('the sign-in to the console by OAuth', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  /** A browser that has signed in with a key and consented; the page that it then sees. */
  const signIn = async (key: string, to = '') => {
    const browser = openBrowser(api);
    const form = await browser.visit(`${CONSOLE}/sign-in/oauth?${new URLSearchParams({ to })}`);
    assert.match(form.html, /Sign in to <bdi>the Adsweep console<\/bdi>/);
    assert.doesNotMatch(form.html, /registered itself/);
    const consent = await browser.visit(form.url, { key, action: 'sign-in' });
    const page = await browser.visit(consent.url, { action: 'allow' });
    return { browser, page, consent };
  };
  const cookieOf = ({ cookies }: ReturnType<typeof openBrowser>) =>
    `adsweep_console=${cookies.get('adsweep_console')?.value}`;

  test('leads over the consent back to the page that was asked for, with what the key may do', async () => {
    const { page, consent } = await signIn(await api.keyThatMay('scans.read'), '/console/scans?status=failed');
    assert.match(consent.html, /See scans, their findings/);
    assert.deepEqual([page.status, page.url], [200, `${CONSOLE}/scans?status=failed`]);
    assert.match(page.html, /signed in by OAuth/);
    assert.doesNotMatch(page.html, /href="\/console\/settings"/);
  });

  test('stores no key, and ends with its sign-out: the tokens are revoked', async () => {
    const { browser } = await signIn(KEYS.ours);
    const cookie = cookieOf(browser);
    const console = consoleBrowser(api);
    const token = await console.tokenOf('/scans', cookie);
    const tokens = () => api.store.collection('oauth_records').find({}).toArray();
    const before = (await tokens()).length;
    assert.equal((await console.post('/sign-out', { token }, cookie)).to, '/console/sign-in');
    assert.equal((await console.get('/scans', cookie)).status, 303);
    assert.ok((await tokens()).length < before);
  });

  test('leaves nothing in the browser after its sign-out: the next person there needs a key', async () => {
    const { browser } = await signIn(KEYS.ours);
    const { html: page } = await browser.visit(`${CONSOLE}/scans`);
    const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    await browser.visit(`${CONSOLE}/sign-out`, { token }, { origin: 'https://adsweep.example' });
    const next = await browser.visit(`${CONSOLE}/sign-in/oauth`);
    assert.match(next.html, /name="key"/);
    assert.doesNotMatch(next.html, /value="allow"/);
  });

  test('ends when the key that signed in is revoked', async () => {
    const { body: key } = await api.post('/api/v1/account/api-keys', { name: 'short-lived' });
    const { browser } = await signIn(key.full_key);
    await api.call('DELETE', `/api/v1/account/api-keys/${key.id}`);
    assert.equal((await consoleBrowser(api).get('/scans', cookieOf(browser))).status, 303);
  });

  test('is refused without the browser that began it, with another state, and if the person refuses', async () => {
    const { browser } = await signIn(KEYS.ours);
    assert.ok(browser.cookies.has('adsweep_console'));
    const console = consoleBrowser(api);
    for (const [query, cookie] of [
      ['code=x&state=y', ''],
      ['code=x&state=y', 'adsweep_console_sign_in=other.verifier.'],
      ['code=x&state=y', 'adsweep_console_sign_in=y.verifier.'],
      ['error=access_denied&state=y', 'adsweep_console_sign_in=y.verifier.'],
    ] as const) {
      const answer = await console.get(`/sign-in/callback?${query}`, cookie);
      assert.deepEqual([answer.status, answer.setCookie], [401, ''], query);
      assert.match(answer.text, /was not finished/);
    }
  });

  test('replaces tokens that are about to end, once for requests that arrive together at several processes', async (t) => {
    const { browser } = await signIn(KEYS.ours);
    const cookie = cookieOf(browser);
    const console = consoleBrowser(api);
    const other = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
    t.after(() => other.close(0));
    const ownUrl = `http://127.0.0.1:${api.port}`;
    const surface = { ...api, readyChecks: [], metricsToken: NODE_TOKEN };
    other.serve(clientApp(surface, { publicUrl: PUBLIC_URL, mcpUrl: null, consoleUrl: ownUrl }).callback());
    const consoles = [console, consoleBrowser(other)];
    const now = Date.now;
    try {
      Date.now = () => now() + 3_600_000 - 30_000;
      const answers = await Promise.all(
        ['/scans', '/alerts', '/rules', ''].flatMap((path) => consoles.map((one) => one.get(path, cookie))),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array(8).fill(200),
      );
    } finally {
      Date.now = now;
    }
    assert.equal((await console.get('/scans', cookie)).status, 200);
  });

  test('outlasts a minute in which the organization may make no more requests, also when its tokens are to be replaced', async () => {
    const { browser } = await signIn(KEYS.ours);
    const [cookie, console] = [cookieOf(browser), consoleBrowser(api)];
    const limit = (requests_per_minute: number | null) =>
      api.store
        .collection<OrganizationRecord>('organizations')
        .updateOne({ _id: ORGANIZATIONS.ours }, { $set: { 'quotas.requests_per_minute': requests_per_minute } });
    const now = Date.now;
    try {
      Date.now = () => now() + 3_600_000;
      const ended = { $set: { expires_at: new Date(0) } };
      await api.store.collection('oauth_records').updateMany({ model: 'AccessToken' }, ended);
      await limit(1);
      await api.get('/api/v1/scans');
      assert.equal((await console.get('/scans', cookie)).status, 429);
      await limit(null);
      // As if the time had passed in which one process replaces the tokens.
      await api.store.collection('console_sessions').updateMany({}, { $unset: { replacing_until: '' } });
      assert.equal((await console.get('/scans', cookie)).status, 200);
    } finally {
      Date.now = now;
      await limit(null);
    }
  });
});
