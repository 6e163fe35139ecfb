import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { OrganizationRecord } from '../../../src/accounts/organizations/organization.ts';
import { CALLBACK, oauthClient, openBrowser, refusedAs, signInWith } from '../../support/oauth-client.ts';
import { PUBLIC_URL } from '../../support/open-plane.ts';
import { KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';

describe('OAuth 2.0', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi({ settings: { trustedProxies: ['127.0.0.1'] } });
  });
  after(() => api.stop());

  const statusOf = async (token: string, path = '/api/v1/scans') => (await api.get(path, { key: token })).status;

  describe('people', () => {
    const signInTo = async (more: object = {}, key = KEYS.ours) => {
      const client = await oauthClient(api, {
        permissions: ['scans.read', 'scans.write'],
        redirect_uris: [CALLBACK],
        ...more,
      });
      const browser = openBrowser(api);
      const begun = await client.authorization();
      const returned = await signInWith(browser, begun.url, key);
      return { client, browser, returned, ...begun };
    };

    test('§5.32 sign in with a key, consent, and return with a code for tokens that act as the key', async () => {
      const { client, returned, exchange } = await signInTo();
      assert.ok(returned.startsWith(`${CALLBACK}?`));
      const tokens = await exchange(returned);
      assert.deepEqual(tokens.scope?.split(' ').toSorted(), ['scans.read', 'scans.write']);
      assert.equal((await api.post('/api/v1/scans', PAGE, { key: tokens.access_token })).status, 201);
      assert.equal(await statusOf(tokens.access_token, '/api/v1/account/api-keys'), 403);
      const renewed = await client.refresh(tokens.refresh_token!);
      assert.notEqual(renewed.refresh_token, tokens.refresh_token);
      assert.equal(await statusOf(renewed.access_token), 200);
    });

    test('§5.32 what the key lacks is neither granted nor asked for again', async () => {
      const reader = await api.keyThatMay('scans.read');
      const { returned, exchange } = await signInTo({}, reader);
      const tokens = await exchange(returned);
      assert.equal(tokens.scope, 'scans.read');
      assert.equal((await api.post('/api/v1/scans', PAGE, { key: tokens.access_token })).status, 403);
    });

    test('§5.32 the consent page names the client, where it returns to, and each permission', async () => {
      const reader = await api.keyThatMay('scans.read');
      const client = await oauthClient(api, {
        name: 'A <b>bold</b> app',
        permissions: ['scans.read', 'billing.read'],
        redirect_uris: [CALLBACK],
      });
      const browser = openBrowser(api);
      const asked = await browser.visit((await client.authorization()).url);
      assert.match(asked.html, /A &lt;b&gt;bold&lt;\/b&gt; app/);
      assert.match(asked.headers.get('content-security-policy')!, /form-action 'self' https:\/\/app\.example;/);
      const wrong = await browser.visit(asked.url, { action: 'sign-in', key: 'wrong' });
      assert.match(wrong.html, /role="alert">This is not a valid API key/);
      const consent = await browser.visit(asked.url, { action: 'sign-in', key: reader });
      assert.match(consent.html, /https:\/\/app\.example/);
      assert.match(consent.html, /<li>[^<]+ <code>scans\.read<\/code>/);
      assert.match(consent.html, /It also asks for <code>billing\.read<\/code>, which your key lacks/);
      const refused = await browser.visit(consent.url, { action: 'refuse' });
      assert.equal(new URL(refused.url).searchParams.get('error'), 'access_denied');
    });

    test('§5.32 tokens of a sign-in end with the key that signed in, and its refresh tokens too', async () => {
      const { body: mine } = await api.post('/api/v1/account/api-keys', { name: 'Mine' });
      const { client, returned, exchange } = await signInTo({}, mine.full_key);
      const tokens = await exchange(returned);
      assert.equal((await client.introspect(tokens.access_token)).active, true);
      assert.equal((await api.call('DELETE', `/api/v1/account/api-keys/${mine.id}`)).status, 204);
      assert.equal(await statusOf(tokens.access_token), 401);
      assert.equal((await client.introspect(tokens.access_token)).active, false);
      await assert.rejects(client.refresh(tokens.refresh_token!), refusedAs('invalid_grant'));
    });

    test('§5.32 a key that was revoked since does not go on with the session of its browser', async () => {
      const { body: mine } = await api.post('/api/v1/account/api-keys', { name: 'Mine' });
      const { client, browser } = await signInTo({}, mine.full_key);
      const { url } = await client.authorization();
      assert.ok((await browser.visit(url)).url.startsWith(CALLBACK));
      await api.call('DELETE', `/api/v1/account/api-keys/${mine.id}`);
      assert.match((await browser.visit(url)).html, /name="key"/);
    });

    test('§5.32 a key of another organization cannot sign in to a client of ours', async () => {
      const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
      const browser = openBrowser(api);
      const asked = await browser.visit((await client.authorization()).url);
      const answer = await browser.visit(asked.url, { action: 'sign-in', key: KEYS.theirs });
      assert.match(answer.html, /not one of the organization/);
    });

    test('§5.32 RFC 7636: a request without PKCE, or with a plain challenge, is refused', async () => {
      const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
      const challenges: Record<string, string>[] = [
        { code_challenge: '', code_challenge_method: '' },
        { code_challenge_method: 'plain' },
      ];
      for (const more of challenges) {
        const { url } = await openBrowser(api).visit((await client.authorization(more)).url);
        assert.equal(new URL(url).searchParams.get('error'), 'invalid_request');
      }
      const { returned, exchange } = await signInTo();
      await assert.rejects(
        exchange(returned, { by: 'another-verifier-of-at-least-forty-three-characters' }),
        refusedAs('invalid_grant'),
      );
    });

    test('§5.32 RFC 6749: another redirect URI is refused on a page, and never redirected to', async () => {
      const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
      const shown = await openBrowser(api).visit(
        (await client.authorization({ redirect_uri: 'https://evil.example/' })).url,
      );
      assert.equal(shown.status, 400);
      assert.ok(shown.url.startsWith(PUBLIC_URL));
      assert.match(shown.html, /invalid_redirect_uri/);
      assert.match(shown.headers.get('content-security-policy')!, /default-src 'none'/);
      const { returned, exchange } = await signInTo();
      await assert.rejects(
        exchange(returned, { redirectUri: 'https://app.example/other' }),
        refusedAs('invalid_grant'),
      );
    });

    test('§5.32 RFC 6749: a code that is used twice ends what the first use gave', async () => {
      const { returned, exchange, client } = await signInTo();
      const tokens = await exchange(returned);
      await assert.rejects(exchange(returned), refusedAs('invalid_grant'));
      assert.equal(await statusOf(tokens.access_token), 401);
      await assert.rejects(client.refresh(tokens.refresh_token!), refusedAs('invalid_grant'));
    });

    test('§5.32 RFC 6749: of a code that ten requests use at once, no token is left', async () => {
      const { returned, exchange } = await signInTo();
      const answers = await Promise.allSettled(Array.from({ length: 10 }, () => exchange(returned)));
      const given = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.access_token] : []));
      assert.ok(given.length <= 1);
      for (const token of given) assert.equal(await statusOf(token), 401);
    });

    test('§5.32 RFC 9700: a refresh token that is used again ends its whole family', async () => {
      const { client, returned, exchange } = await signInTo();
      const first = await exchange(returned);
      const second = await client.refresh(first.refresh_token!);
      assert.equal(await statusOf(second.access_token), 200);
      await assert.rejects(client.refresh(first.refresh_token!), refusedAs('invalid_grant'));
      assert.equal(await statusOf(second.access_token), 401);
      await assert.rejects(client.refresh(second.refresh_token!), refusedAs('invalid_grant'));
    });

    test('§5.32 §5.8 a code or a refresh token that is refused beyond the limit of requests is still good', async () => {
      const quotas = (requests_per_minute: number | null) =>
        api.store
          .collection<OrganizationRecord>('organizations')
          .updateOne({ _id: ORGANIZATIONS.ours }, { $set: { 'quotas.requests_per_minute': requests_per_minute } });
      const { client, returned, exchange } = await signInTo();
      await quotas(1);
      await statusOf(KEYS.ours);
      await assert.rejects(exchange(returned), refusedAs('temporarily_unavailable'));
      await quotas(null);
      const tokens = await exchange(returned);
      await quotas(1);
      await assert.rejects(client.refresh(tokens.refresh_token!), refusedAs('temporarily_unavailable'));
      await quotas(null);
      const renewed = await client.refresh(tokens.refresh_token!);
      assert.equal(await statusOf(renewed.access_token), 200);
    });

    test('§5.32 a form is taken only from the browser that began the request', async () => {
      const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
      const asked = await openBrowser(api).visit((await client.authorization()).url);
      const other = await openBrowser(api).visit(asked.url, { action: 'sign-in', key: KEYS.ours });
      assert.equal(other.status, 400);
      assert.match(other.html, /begun in another browser/);
    });

    test('§5.32 behind TLS the cookies are Secure, HttpOnly and SameSite=Lax', async () => {
      const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
      const { url } = await client.authorization();
      const answer = await fetch(url.replace(PUBLIC_URL, `http://127.0.0.1:${api.port}`), { redirect: 'manual' });
      const cookies = answer.headers.getSetCookie();
      assert.ok(cookies.length > 0);
      for (const one of cookies) assert.match(one, /; samesite=lax; secure; httponly/i);
    });
  });

  describe('tokens', () => {
    /** The answer to a form that a client sends, without what a standard client would add or check. */
    const send = async (path: string, form: Record<string, string>) => {
      const url = `http://127.0.0.1:${api.port}${path}`;
      const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
    };

    test('§5.31 RFC 6749: every other request for a token is refused with its error, and stores nothing', async () => {
      const signs = await oauthClient(api, { redirect_uris: [CALLBACK] });
      const { made: alone } = await oauthClient(api, {});
      const of = ({ client_id, client_secret }: { client_id: string; client_secret: string }) => ({
        ...{ client_id, client_secret },
      });
      const { url } = await signs.authorization();
      const code = new URL(await signInWith(openBrowser(api), url, KEYS.ours)).searchParams.get('code')!;
      const exchange = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
      const records = api.store.collection('oauth_records');
      const before = await records.countDocuments({ model: { $in: ['AccessToken', 'ClientCredentials'] } });
      const refused: [Record<string, string>, string][] = [
        [of(alone), '400 invalid_request'],
        [{ ...of(alone), grant_type: 'password', username: 'a', password: 'b' }, '400 unsupported_grant_type'],
        [{ ...of(alone), grant_type: 'implicit' }, '400 unsupported_grant_type'],
        [{ ...of(alone), ...exchange }, '400 invalid_request'],
        [{ ...of(alone), grant_type: 'refresh_token', refresh_token: 'x' }, '400 invalid_request'],
        [{ client_id: alone.client_id, grant_type: 'client_credentials' }, '401 invalid_client'],
        [{ client_id: 'nobody', client_secret: 'x', grant_type: 'client_credentials' }, '401 invalid_client'],
        [{ grant_type: 'client_credentials' }, '400 invalid_request'],
        [{ ...of(signs.made as never), grant_type: 'refresh_token', refresh_token: 'guessed' }, '400 invalid_grant'],
        [
          { ...of(signs.made as never), ...exchange, code: 'guessed', code_verifier: 'x'.repeat(43) },
          '400 invalid_grant',
        ],
        [{ ...of(signs.made as never), ...exchange }, '400 invalid_grant'],
      ];
      for (const [form, expected] of refused) {
        const { status, body } = await send('/oauth/token', form);
        assert.equal(`${status} ${body.error}`, expected, JSON.stringify(form));
      }
      assert.equal(await records.countDocuments({ model: { $in: ['AccessToken', 'ClientCredentials'] } }), before);
    });

    test('§5.32 RFC 6749: a code is good for a minute', async () => {
      const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
      const { url, exchange } = await client.authorization();
      const returned = await signInWith(openBrowser(api), url, KEYS.ours);
      const codes = api.store.collection('oauth_records');
      const mine = { model: 'AuthorizationCode', client_id: client.made.client_id };
      const { expires_at } = (await codes.findOne(mine))!;
      assert.ok(expires_at.getTime() <= Date.now() + 60_000);
      await codes.updateOne(mine, { $set: { expires_at: new Date() } });
      await assert.rejects(exchange(returned), refusedAs('invalid_grant'));
    });

    test('§5.33 RFC 6750: a token is taken from the header alone', async () => {
      const { access_token } = await (await oauthClient(api, {})).clientCredentials();
      assert.equal((await api.get(`/api/v1/scans?access_token=${access_token}`, { key: null })).status, 401);
    });

    test('§5.33 RFC 7009: a refresh token that is revoked ends the tokens of its sign-in; unknown ones are no error', async () => {
      const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
      const { url, exchange } = await client.authorization();
      const tokens = await exchange(await signInWith(openBrowser(api), url, KEYS.ours));
      assert.equal((await client.introspect(tokens.refresh_token!)).active, true);
      await client.revoke('never issued');
      await client.revoke(tokens.refresh_token!);
      assert.equal(await statusOf(tokens.access_token), 401);
      assert.deepEqual(await client.introspect(tokens.refresh_token!), { active: false });
      await assert.rejects(client.refresh(tokens.refresh_token!), refusedAs('invalid_grant'));
    });

    test('§5.33 nobody revokes or introspects a token without authentication', async () => {
      const { access_token: token } = await (await oauthClient(api, {})).clientCredentials();
      for (const path of ['/oauth/revoke', '/oauth/introspect']) {
        assert.equal((await send(path, { token })).status, 400);
        const { made } = await oauthClient(api, {});
        const wrong = await send(path, { token, client_id: made.client_id, client_secret: 'wrong' });
        assert.equal(`${wrong.status} ${wrong.body.error}`, '401 invalid_client');
      }
      assert.equal(await statusOf(token), 200);
    });

    test('§5.33 RFC 7009 and 7662: a client revokes and introspects tokens of its own organization alone', async () => {
      const [ours, sibling] = [await oauthClient(api, {}), await oauthClient(api, {})];
      const theirs = await oauthClient(api, {}, KEYS.theirs);
      const { access_token } = await ours.clientCredentials();
      assert.deepEqual(await theirs.introspect(access_token), { active: false });
      const seen = await sibling.introspect(access_token);
      assert.deepEqual([seen.active, seen.client_id, seen.scope], [true, ours.made.client_id, 'scans.read']);
      await theirs.revoke(access_token);
      assert.equal(await statusOf(access_token), 200);
      await ours.revoke(access_token);
      assert.equal(await statusOf(access_token), 401);
      assert.deepEqual(await ours.introspect(access_token), { active: false });
    });
  });

  describe('documents', () => {
    test('§5.33 RFC 8414 and 9728: the metadata names what is served, and the challenge names the metadata', async () => {
      const { body: server } = await api.get('/.well-known/oauth-authorization-server', { key: null });
      assert.equal(server.issuer, PUBLIC_URL);
      assert.equal(server.token_endpoint, `${PUBLIC_URL}/oauth/token`);
      assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
      assert.deepEqual(server.response_types_supported, ['code']);
      assert.ok(server.scopes_supported.includes('scans.read'));
      assert.deepEqual(
        [server.response_modes_supported, server.authorization_response_iss_parameter_supported],
        [['query'], true],
      );
      const ofOpenId = /openid|id_token|claims|jwks|subject_types|userinfo/;
      assert.doesNotMatch(JSON.stringify(server), ofOpenId, 'nothing of OpenID Connect, which is not served');
      const { body: resource } = await api.get('/.well-known/oauth-protected-resource', { key: null });
      assert.deepEqual(resource.authorization_servers, [PUBLIC_URL]);
      const challenge = (await api.get('/api/v1/scans', { key: null })).headers.get('www-authenticate');
      assert.ok(challenge?.includes(`resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource"`));
      assert.equal((await api.get('/.well-known/openid-configuration', { key: null })).status, 404);
    });
  });
});
