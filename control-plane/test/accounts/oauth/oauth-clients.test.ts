import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { NO_QUOTAS } from '../../../src/accounts/organizations/organization.ts';
import { CALLBACK, oauthClient, openBrowser, refusedAs, signInWith } from '../../support/oauth-client.ts';
import { itemsOf, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';

const CLIENTS = '/api/v1/account/oauth-clients';

describe('OAuth 2.0', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi({ settings: { trustedProxies: ['127.0.0.1'] } });
  });
  after(() => api.stop());

  const statusOf = async (token: string) => (await api.get('/api/v1/scans', { key: token })).status;

  describe('clients', () => {
    test('§5.30 a client is created with its secret, listed without it, and stored only as a hash', async () => {
      const answer = await api.post(CLIENTS, { name: 'App', permissions: ['scans.read'], redirect_uris: [CALLBACK] });
      assert.equal(answer.status, 201);
      const { client_secret, ...shown } = answer.body;
      assert.equal(shown.client_id, shown.id);
      const listed = (await api.get(CLIENTS)).body;
      assert.deepEqual(
        listed.find(({ id }: { id: string }) => id === shown.id),
        shown,
      );
      assert.ok(
        !JSON.stringify(await api.store.collection('oauth_clients').find({}).toArray()).includes(client_secret),
      );
      assert.ok(!(await api.get(CLIENTS, { key: KEYS.theirs })).text.includes(shown.id));
      assert.equal((await api.call('DELETE', `${CLIENTS}/${shown.id}`, { key: KEYS.theirs })).status, 404);
    });

    test('§7.2.5 a client whose creation was interrupted and is repeated has the secret that the repetition returns', async () => {
      const sent = { headers: { 'idempotency-key': 'interrupted' } };
      const made = await api.post(CLIENTS, { name: 'App', permissions: ['scans.read'] }, sent);
      const unanswered = { $set: { answer: null, started_at: new Date(0) } };
      await api.store.collection('idempotency_keys').updateMany({}, unanswered);
      const { body } = await api.post(CLIENTS, { name: 'App', permissions: ['scans.read'] }, sent);
      assert.equal(body.client_id, made.body.client_id);
      const { client_id, client_secret } = body;
      const answer = await fetch(`http://127.0.0.1:${api.port}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
      });
      assert.equal(answer.status, 200, await answer.text());
    });

    test('§5.30 a client has at most the permissions and the lifetime of the key that creates it', async () => {
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      const { body: narrow } = await api.post('/api/v1/account/api-keys', {
        name: 'Narrow',
        permissions: ['account.manage', 'scans.read'],
        expires_at,
      });
      const asked = { name: 'App', permissions: ['scans.read', 'scans.write'] };
      const refused = await api.post(CLIENTS, asked, { key: narrow.full_key });
      assert.deepEqual(itemsOf(refused), ['body.permissions permission_lacking']);
      const none = await api.post(CLIENTS, { ...asked, permissions: [] });
      assert.deepEqual(itemsOf(none), ['body.permissions too_short'], 'a client that could get no token');
      const made = await api.post(CLIENTS, { ...asked, permissions: ['scans.read'] }, { key: narrow.full_key });
      assert.equal(made.body.expires_at, expires_at);
    });

    test('§5.30 redirect URIs that could leak a code are refused, each with its place in the list', async () => {
      const refused = [
        'http://app.example/cb',
        'https://app.example/#x',
        'javascript:alert(1)',
        'app:/cb',
        'not a uri',
        'https://a:b@app.example/',
      ];
      const redirect_uris = [CALLBACK, 'http://127.0.0.1/cb', 'com.example.app:/cb', ...refused];
      const answer = await api.post(CLIENTS, { name: 'App', permissions: ['scans.read'], redirect_uris });
      assert.deepEqual(
        itemsOf(answer),
        refused.map((_, at) => `body.redirect_uris.${at + 3} invalid_redirect_uri`),
      );
    });
  });

  describe('client credentials', () => {
    test('§5.31 a token may do what its scope names, and all that the client may without one', async () => {
      const client = await oauthClient(api, { permissions: ['scans.read', 'scans.write'] });
      const read = await client.clientCredentials('scans.read');
      assert.deepEqual([read.scope, read.token_type, read.expires_in], ['scans.read', 'bearer', 3600]);
      assert.equal(await statusOf(read.access_token), 200);
      assert.equal((await api.post('/api/v1/scans', PAGE, { key: read.access_token })).status, 403);
      const all = await client.clientCredentials();
      assert.deepEqual(all.scope?.split(' ').toSorted(), ['scans.read', 'scans.write']);
      assert.equal((await api.post('/api/v1/scans', PAGE, { key: all.access_token })).status, 201);
      await assert.rejects(client.clientCredentials('account.manage'), refusedAs('invalid_scope'));
    });

    test('§5.31 neither a token nor a secret is stored', async () => {
      const client = await oauthClient(api, {});
      const { access_token } = await client.clientCredentials();
      const stored = JSON.stringify(await api.store.collection('oauth_records').find({}).toArray());
      assert.ok(!stored.includes(access_token));
      assert.ok(!stored.includes(client.made.client_secret));
    });

    test('§5.31 a wrong secret is refused', async () => {
      const { made } = await oauthClient(api, {});
      const answer = await fetch(`http://127.0.0.1:${api.port}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: made.client_id,
          client_secret: 'wrong',
        }),
      });
      assert.equal(answer.status, 401);
      assert.equal(((await answer.json()) as { error: string }).error, 'invalid_client');
    });

    test('§5.31 a deleted client and its tokens are refused at once', async () => {
      const client = await oauthClient(api, {});
      const { access_token } = await client.clientCredentials();
      assert.equal(await statusOf(access_token), 200);
      assert.equal((await api.call('DELETE', `${CLIENTS}/${client.made.id}`)).status, 204);
      assert.equal(await statusOf(access_token), 401);
      await assert.rejects(client.clientCredentials(), (error: { status?: number }) => error.status === 401);
    });

    test('§5.8 §5.31 tokens count for the rate limit of their organization, and so does each that is issued', async () => {
      const client = await oauthClient(api, {}, KEYS.theirs);
      const limit = { $set: { 'quotas.requests_per_minute': 3 } };
      const organizations = api.store.collection('organizations');
      await organizations.updateOne({ _id: ORGANIZATIONS.theirs } as object, limit);
      const { access_token } = await client.clientCredentials();
      assert.equal((await api.get('/api/v1/scans', { key: access_token })).headers.get('ratelimit-limit'), '3');
      await statusOf(access_token);
      assert.equal(await statusOf(access_token), 429);
      await assert.rejects(client.clientCredentials(), refusedAs('temporarily_unavailable'));
      await organizations.updateOne({ _id: ORGANIZATIONS.theirs } as object, { $set: { quotas: NO_QUOTAS } });
    });

    test('§2.8.81 an organization is issued as many tokens in a day as it may, also when 40 are asked for at once', async () => {
      const client = await oauthClient(api, {}, KEYS.theirs);
      await client.clientCredentials();
      await api.domains.accounts.verbs.storedPerDay.take(ORGANIZATIONS.theirs, 'tokens', 100_000 - 6);
      const asked = await Promise.allSettled(Array.from({ length: 40 }, () => client.clientCredentials()));
      const issued = asked.filter(({ status }) => status === 'fulfilled').length;
      assert.ok(issued <= 5, `${issued} issued`);
      await assert.rejects(client.clientCredentials(), refusedAs('temporarily_unavailable'));
      await api.store.collection('day_shares').deleteMany({});
    });

    test('§5.31 the audit log names the client', async () => {
      const client = await oauthClient(api, { permissions: ['account.manage'] });
      const { access_token: key } = await client.clientCredentials();
      const { body: made } = await api.post('/api/v1/account/api-keys', { name: 'By a client' }, { key });
      assert.deepEqual(made.permissions, ['account.manage']);
      assert.ok(Date.parse(made.expires_at) <= Date.now() + 3_600_000);
      const stored = await api.store.collection('api_keys').findOne({ _id: made.id } as object);
      assert.deepEqual(stored?.outbox[0].actor, {
        kind: 'oauth_client',
        key_id: client.made.id,
        client_id: client.made.id,
      });
    });

    test('§5.31 an Idempotency-Key of a client is not that of another credential', async () => {
      const client = await oauthClient(api, { permissions: ['scans.write'] });
      const { access_token } = await client.clientCredentials();
      const headers = { 'idempotency-key': 'the same' };
      const [ours, theirs] = [
        await api.post('/api/v1/scans', PAGE, { headers }),
        await api.post('/api/v1/scans', PAGE, { headers, key: access_token }),
      ];
      assert.notEqual(ours.body.id, theirs.body.id);
      const again = await api.post('/api/v1/scans', PAGE, {
        headers,
        key: (await client.clientCredentials()).access_token,
      });
      assert.equal(again.body.id, theirs.body.id);
    });

    test('§5.31 a token with fewer scopes does not get what was answered to one with more', async () => {
      const client = await oauthClient(api, { permissions: ['account.manage', 'scans.write'] });
      const makeKey = async (scope: string) => {
        const { access_token: key } = await client.clientCredentials(scope);
        const sent = { headers: { 'idempotency-key': 'the same' }, key };
        return (await api.post('/api/v1/account/api-keys', { name: 'Made by a token' }, sent)).body;
      };
      const [wide, narrow] = [await makeKey('account.manage scans.write'), await makeKey('account.manage')];
      assert.deepEqual(narrow.permissions, ['account.manage']);
      assert.equal((await makeKey('scans.write account.manage')).id, wide.id);
    });
  });

  describe('dynamic registration', () => {
    const register = (body: object) =>
      fetch(`http://127.0.0.1:${api.port}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });

    test('§5.34 a client that registered itself acts only for people who consent', async () => {
      const made = await register({
        client_name: 'A stranger',
        redirect_uris: [CALLBACK],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      });
      assert.equal(made.status, 201);
      const { client_id } = (await made.json()) as { client_id: string };
      const known = await oauthClient(api, {});
      const { standardClient } = await import('../../support/oauth-client.ts');
      const { None } = await import('oauth4webapi');
      const stranger = standardClient(api, { ...known, client: { client_id }, authentication: None() });
      const browser = openBrowser(api);
      const begun = await stranger.authorization({ scope: 'scans.read' });
      const asked = await browser.visit(begun.url);
      assert.match(asked.html, /registered itself/);
      const tokens = await begun.exchange(await signInWith(browser, begun.url, KEYS.theirs));
      assert.equal(await statusOf(tokens.access_token), 200);
      assert.equal((await api.post('/api/v1/scans', PAGE, { key: tokens.access_token })).status, 403);
      const itself = await register({ redirect_uris: [], response_types: [], grant_types: ['client_credentials'] });
      assert.equal(itself.status, 400);
    });
  });
});
