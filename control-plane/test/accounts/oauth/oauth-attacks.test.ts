import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CALLBACK, oauthClient, openBrowser, refusedAs, type Shown, signInWith } from '../../support/oauth-client.ts';
import { PUBLIC_URL } from '../../support/open-plane.ts';
import { KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';

const SCOPES = ['scans.read', 'scans.write'];

describe('OAuth 2.0 under attack', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi({ settings: { trustedProxies: ['127.0.0.1'] } });
  });
  after(() => api.stop());

  const clientOf = () => oauthClient(api, { permissions: SCOPES, redirect_uris: [CALLBACK] });
  const errorAt = ({ url }: Shown) => new URL(url).searchParams.get('error');
  const statusOf = async (key: string) => (await api.get('/api/v1/scans', { key })).status;
  const newKey = async () => (await api.post('/api/v1/account/api-keys', { name: 'Mine' })).body;
  const keys = () => api.store.collection('api_keys');

  /** Signs in to a client, and gets tokens. */
  const tokensFor = async (key: string, parameters: Record<string, string> = {}) => {
    const client = await clientOf();
    const browser = openBrowser(api);
    const { url, exchange } = await client.authorization(parameters);
    return { client, browser, tokens: await exchange(await signInWith(browser, url, key)) };
  };

  describe('other sites', () => {
    test('§5.32 are never redirected to: a redirect URI matches exactly', async () => {
      const client = await clientOf();
      for (const redirect_uri of [
        `${CALLBACK}/`,
        `${CALLBACK}?next=https://evil.example`,
        `${CALLBACK}/../../evil`,
        CALLBACK.toUpperCase(),
        'https://app.example@evil.example/callback',
        'https://app.example.evil.example/callback',
        '//evil.example/callback',
        'javascript:alert(1)',
      ]) {
        const shown = await openBrowser(api).visit((await client.authorization({ redirect_uri })).url);
        assert.deepEqual([shown.status, shown.url.startsWith(PUBLIC_URL)], [400, true], redirect_uri);
      }
      const twice = `${(await client.authorization()).url}&redirect_uri=https://evil.example/`;
      assert.ok((await openBrowser(api).visit(twice)).url.startsWith(`${CALLBACK}?error=`));
    });

    test('§5.32 cannot frame any page of the sign-in', async () => {
      const client = await clientOf();
      const browser = openBrowser(api);
      const asked = await browser.visit((await client.authorization()).url);
      const consent = await browser.visit(asked.url, { action: 'sign-in', key: KEYS.ours });
      const problem = await browser.visit((await client.authorization({ redirect_uri: 'https://evil.example/' })).url);
      for (const { headers } of [asked, consent, problem]) {
        assert.match(headers.get('content-security-policy')!, /frame-ancestors 'none'/);
        assert.equal(headers.get('x-frame-options'), 'DENY');
      }
    });

    test('§5.32 cannot send a form for somebody, even if the browser adds the cookies', async () => {
      const client = await clientOf();
      const browser = openBrowser(api);
      const asked = await browser.visit((await client.authorization()).url);
      const { url } = await browser.visit(asked.url, { action: 'sign-in', key: KEYS.ours });
      for (const site of ['cross-site', 'same-site', 'none']) {
        const { status } = await browser.visit(url, { action: 'allow' }, { 'Sec-Fetch-Site': site });
        assert.equal(status, 400, site);
      }
      const own = await browser.visit(url, { action: 'allow' }, { 'Sec-Fetch-Site': 'same-origin' });
      assert.ok(own.url.startsWith(CALLBACK));
    });

    test('§5.32 cannot have a code posted to them, or put into a fragment', async () => {
      const client = await clientOf();
      for (const response_mode of ['form_post', 'fragment', 'web_message']) {
        const shown = await openBrowser(api).visit((await client.authorization({ response_mode })).url);
        assert.equal(errorAt(shown), 'unsupported_response_mode', response_mode);
      }
      assert.equal((await api.call('POST', '/oauth/authorize', { key: null })).status, 405);
    });
  });

  describe('another browser', () => {
    test('§5.32 does not get the session of a person whose cookies it knew before the sign-in', async () => {
      const client = await clientOf();
      const [victim, attacker] = [openBrowser(api), openBrowser(api)];
      const { url } = await client.authorization();
      const asked = await victim.visit(url);
      const planted = [...victim.cookies];
      await victim.visit((await victim.visit(asked.url, { action: 'sign-in', key: KEYS.ours })).url, {
        action: 'allow',
      });
      for (const [name, cookie] of planted) attacker.cookies.set(name, cookie);
      assert.match((await attacker.visit(url)).html, /name="key"/);
      assert.equal((await attacker.visit(asked.url)).status, 400);
    });

    test('§5.32 does not keep the session that a browser had when it signs in anew', async () => {
      const first = await tokensFor(KEYS.ours);
      const before = [...first.browser.cookies];
      const { url } = await first.client.authorization({ prompt: 'login' });
      await signInWith(first.browser, url, KEYS.ours);
      const attacker = openBrowser(api);
      for (const [name, cookie] of before) attacker.cookies.set(name, cookie);
      assert.match((await attacker.visit((await first.client.authorization()).url)).html, /name="key"/);
    });
  });

  describe('another key in the same browser', () => {
    test('§5.32 begins anew: it consents itself, and its tokens are its own', async () => {
      const [one, other] = [await newKey(), await newKey()];
      const { client, browser, tokens } = await tokensFor(one.full_key);
      const { url, exchange } = await client.authorization({ prompt: 'login' });
      const asked = await browser.visit(url);
      const consent = await browser.visit(asked.url, { action: 'sign-in', key: other.full_key });
      assert.match(consent.html, /act for you/);
      const theirs = await exchange((await browser.visit(consent.url, { action: 'allow' })).url);
      await api.call('DELETE', `/api/v1/account/api-keys/${one.id}`);
      assert.deepEqual([await statusOf(tokens.access_token), await statusOf(theirs.access_token)], [401, 200]);
    });

    test('§5.32 signs in from the consent page, where a wrong one changes nothing', async () => {
      const [one, other] = [await api.keyThatMay('billing.read'), await newKey()];
      const client = await clientOf();
      const browser = openBrowser(api);
      const { url, exchange } = await client.authorization();
      const asked = await browser.visit(url);
      const consent = await browser.visit(asked.url, { action: 'sign-in', key: one });
      assert.match(consent.html, /may do nothing of what it asks for/);
      assert.match((await browser.visit(consent.url, { action: 'allow' })).html, /may do nothing/);
      assert.match((await browser.visit(consent.url, { action: 'another-key' })).html, /name="key"/);
      assert.match((await browser.visit(consent.url, { action: 'sign-in', key: 'wrong' })).html, /role="alert"/);
      assert.match((await browser.visit(consent.url)).html, /may do nothing/);
      const again = await browser.visit(consent.url, { action: 'sign-in', key: other.full_key });
      const tokens = await exchange((await browser.visit(again.url, { action: 'allow' })).url);
      assert.deepEqual(tokens.scope?.split(' ').toSorted(), SCOPES);
      await api.call('DELETE', `/api/v1/account/api-keys/${other.id}`);
      assert.equal(await statusOf(tokens.access_token), 401);
    });

    test('§5.32 signs in after the key of the session was revoked', async () => {
      const one = await newKey();
      const { client, browser } = await tokensFor(one.full_key);
      await api.call('DELETE', `/api/v1/account/api-keys/${one.id}`);
      const { url, exchange } = await client.authorization();
      const tokens = await exchange(await signInWith(browser, url, KEYS.ours));
      assert.equal(await statusOf(tokens.access_token), 200);
    });
  });

  describe('another client', () => {
    test('§5.32 cannot use a code or a refresh token, and the answer names its issuer', async () => {
      const [ours, other] = [await clientOf(), await clientOf()];
      const { url, exchange } = await ours.authorization();
      const returned = await signInWith(openBrowser(api), url, KEYS.ours);
      assert.equal(new URL(returned).searchParams.get('iss'), PUBLIC_URL);
      const byOther = await fetch(`http://127.0.0.1:${api.port}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ grant_type: 'authorization_code', code: new URL(returned).searchParams.get('code')! },
          ...{ redirect_uri: CALLBACK, code_verifier: 'x'.repeat(43) },
          ...{ client_id: other.made.client_id, client_secret: other.made.client_secret },
        }),
      });
      assert.equal(((await byOther.json()) as { error: string }).error, 'invalid_grant');
      const tokens = await exchange(returned);
      await assert.rejects(other.refresh(tokens.refresh_token!), refusedAs('invalid_grant'));
    });

    test('§5.32 of another organization gets nothing by a session of ours', async () => {
      const { browser } = await tokensFor(KEYS.ours);
      const theirs = await oauthClient(api, { redirect_uris: [CALLBACK] }, KEYS.theirs);
      const asked = await browser.visit((await theirs.authorization()).url);
      const consent = await browser.visit(asked.url, { action: 'allow' });
      assert.match(asked.html, /name="key"/);
      assert.ok(consent.url.startsWith(PUBLIC_URL));
      const { url, exchange } = await theirs.authorization();
      const tokens = await exchange(await signInWith(browser, url, KEYS.theirs));
      assert.equal(await statusOf(tokens.access_token), 200);
    });
  });

  describe('more than was consented to', () => {
    test('§5.32 is asked for again in the same browser, never granted silently', async () => {
      const { client, browser } = await tokensFor(KEYS.ours, { scope: 'scans.read' });
      const more = await client.authorization({ scope: SCOPES.join(' ') });
      const consent = await browser.visit(more.url);
      assert.match(consent.html, /<code>scans\.write<\/code>/);
      assert.ok(consent.url.startsWith(PUBLIC_URL));
    });

    test('§5.32 is not given by a refresh, nor scopes above those of the client', async () => {
      const { client, tokens } = await tokensFor(KEYS.ours, { scope: 'scans.read' });
      const asked = await fetch(`http://127.0.0.1:${api.port}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ grant_type: 'refresh_token', refresh_token: tokens.refresh_token!, scope: SCOPES.join(' ') },
          ...{ client_id: client.made.client_id, client_secret: client.made.client_secret },
        }),
      });
      assert.equal(((await asked.json()) as { error: string }).error, 'invalid_scope');
      const beyond = await client.authorization({ scope: 'scans.read account.manage' });
      assert.equal(errorAt(await openBrowser(api).visit(beyond.url)), 'invalid_scope');
    });

    test('§5.32 no ID token is issued: openid is no scope', async () => {
      const { tokens } = await tokensFor(KEYS.ours, { scope: 'openid scans.read' });
      assert.deepEqual([tokens.scope, 'id_token' in tokens], ['scans.read', false]);
    });
  });

  describe('a key that may do less', () => {
    test('§5.32 narrows the tokens of its sign-ins at once, and those that are renewed', async () => {
      const key = await newKey();
      const { client, tokens } = await tokensFor(key.full_key);
      assert.equal((await api.post('/api/v1/scans', PAGE, { key: tokens.access_token })).status, 201);
      await keys().updateOne({ _id: key.id } as object, { $set: { permissions: ['scans.read'] } });
      const renewed = await client.refresh(tokens.refresh_token!);
      for (const { access_token } of [tokens, renewed]) {
        assert.equal((await api.post('/api/v1/scans', PAGE, { key: access_token })).status, 403);
        assert.equal(await statusOf(access_token), 200);
      }
    });

    test('§5.32 ends the tokens of its sign-ins when it expires', async () => {
      const key = await newKey();
      const { client, tokens } = await tokensFor(key.full_key);
      await keys().updateOne({ _id: key.id } as object, { $set: { expires_at: new Date() } });
      assert.equal(await statusOf(tokens.access_token), 401);
      await assert.rejects(client.refresh(tokens.refresh_token!), refusedAs('invalid_grant'));
    });
  });

  test('§5.4 §5.31 tokens of a suspended organization read, and create nothing', async () => {
    const client = await oauthClient(api, { permissions: SCOPES, redirect_uris: [CALLBACK] }, KEYS.theirs);
    const organizations = api.store.collection('organizations');
    const setStatus = (status: string) =>
      organizations.updateOne({ _id: ORGANIZATIONS.theirs } as object, { $set: { status } });
    await setStatus('suspended');
    const own = await client.clientCredentials();
    const { url, exchange } = await client.authorization();
    const person = await exchange(await signInWith(openBrowser(api), url, KEYS.theirs));
    for (const { access_token: key } of [own, person]) {
      assert.equal(await statusOf(key), 200);
      const refused = await api.post('/api/v1/scans', PAGE, { key });
      assert.deepEqual([refused.status, refused.body.error?.code ?? refused.body.code], [403, 'billing.suspended']);
    }
    await setStatus('active');
  });
});

test('§5.5 §5.31 §5.32 a process that remembers credentials refuses what it revokes at once', async (t) => {
  const api = await runningApi({ settings: { trustedProxies: ['127.0.0.1'], rememberedMs: 3_600_000 } });
  t.after(() => api.stop());
  const statuses = (credentials: string[]) =>
    Promise.all(credentials.map(async (key) => (await api.get('/api/v1/scans', { key })).status));
  const { body: mine } = await api.post('/api/v1/account/api-keys', { name: 'Mine' });
  const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
  const { url, exchange } = await client.authorization();
  const tokens = await exchange(await signInWith(openBrowser(api), url, mine.full_key));
  const own = await client.clientCredentials();
  assert.deepEqual(await statuses([mine.full_key, tokens.access_token, own.access_token]), [200, 200, 200]);

  await api.call('DELETE', `/api/v1/account/api-keys/${mine.id}`);
  assert.deepEqual(await statuses([mine.full_key, tokens.access_token, own.access_token]), [401, 401, 200]);
  await api.call('DELETE', `/api/v1/account/oauth-clients/${client.made.id}`);
  assert.deepEqual(await statuses([own.access_token]), [401]);
});
