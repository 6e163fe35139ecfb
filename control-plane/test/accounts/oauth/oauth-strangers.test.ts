import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { None } from 'oauth4webapi';
import { oauthClientStore } from '../../../src/accounts/oauth/oauth-client-store.ts';
import { openStore } from '../../../src/platform/store.ts';
import { CALLBACK, oauthClient, openBrowser, signInWith, standardClient } from '../../support/oauth-client.ts';
import { KEYS, type RunningApi, runningApi } from '../../support/running-api.ts';

/** A day after which an unused client is gone, and a minute. */
const LATER_MS = 24 * 3_600_000 + 60_000;

describe('strangers to OAuth 2.0', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi({ settings: { trustedProxies: ['127.0.0.1'] } });
  });
  after(() => api.stop());

  test('§5.35 sign in at most a bounded number of times a minute from an address, and are told when again', async () => {
    const client = await oauthClient(api, { redirect_uris: [CALLBACK] });
    const { url } = await client.authorization();
    const stranger = openBrowser(api, '203.0.113.7');
    const asked = await stranger.visit(url);
    for (let tries = 1; tries < 60; tries += 1) {
      const { status } = await stranger.visit(asked.url, { action: 'sign-in', key: `guess ${tries}` });
      assert.equal(status, 200);
    }
    for (const refused of [
      await stranger.visit(asked.url, { action: 'sign-in', key: KEYS.ours }),
      await stranger.visit(url),
    ]) {
      assert.equal(refused.status, 429);
      assert.match(refused.html, /Too many sign-ins/);
      assert.match(refused.headers.get('retry-after')!, /^\d+$/);
      assert.match(refused.headers.get('content-security-policy')!, /frame-ancestors 'none'/);
    }
    assert.equal((await openBrowser(api, '203.0.113.8').visit(url)).status, 200, 'others are not held up');
    assert.equal((await stranger.visit(asked.url)).status, 200, 'a page can be looked at');
  });

  const register = (address: string, metadata: object = {}) =>
    api.post(
      '/oauth/register',
      { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', ...metadata },
      { key: null, headers: { 'content-type': 'application/json', 'x-forwarded-for': address } },
    );

  test('§5.35 register a bounded number of clients an hour, which go unless somebody consents to them', async () => {
    const made: string[] = [];
    for (let at = 0; at < 20; at += 1) {
      const { status, body } = await register('203.0.113.9');
      assert.equal(status, 201);
      made.push(body.client_id);
    }
    const refused = await register('203.0.113.9');
    assert.deepEqual([refused.status, refused.body.error], [429, 'temporarily_unavailable']);
    assert.ok(Number(refused.headers.get('retry-after')) > 60);

    const used = await oauthClient(api, {});
    const stranger = standardClient(api, { ...used, client: { client_id: made[0]! }, authentication: None() });
    const { url, exchange } = await stranger.authorization({ scope: 'scans.read' });
    await exchange(await signInWith(openBrowser(api), url, KEYS.ours));

    const clients = api.accounts.oauthClients;
    const later = new Date(Date.now() + LATER_MS);
    assert.ok(await clients.findById(made[0]!, later));
    assert.equal(await clients.findById(made[1]!, later), null);
    await clients.insertRegistered({ ...(await clients.findById(made[0]!, later))!, _id: 'new', created_at: later });
    const kept = await api.store.collection('oauth_clients').find({ organization_id: null }).toArray();
    assert.deepEqual(kept.map(({ _id }) => String(_id)).toSorted(), [made[0], 'new'].toSorted());
  });

  test('§5.35 fill the clients that registered themselves for a while only: those that get no tokens go', async () => {
    const { body } = await register('203.0.113.11');
    const used = await oauthClient(api, {});
    const stranger = standardClient(api, { ...used, client: { client_id: body.client_id }, authentication: None() });
    const { oauthClients: clients } = api.accounts;
    const inDays = (days: number) => new Date(Date.now() + days * 24 * 3_600_000);
    const isKept = async (days: number, id = body.client_id) => (await clients.findById(id, inDays(days))) !== null;
    const { url, exchange } = await stranger.authorization({ scope: 'scans.read' });
    const consented = await signInWith(openBrowser(api), url, KEYS.ours);
    assert.deepEqual([await isKept(179), await isKept(181)], [true, false]);

    const stored = api.store.collection<{ _id: string; expires_at: Date | null }>('oauth_clients');
    await stored.updateOne({ _id: body.client_id }, { $set: { expires_at: inDays(10) } });
    await exchange(consented);
    assert.equal(await isKept(179), true, 'a token keeps it');

    const { _id, ...record } = (await clients.findById(body.client_id, new Date()))!;
    await stored.insertOne({ ...record, _id: 'of an earlier version', expires_at: null });
    await clients.insertRegistered({ ...record, _id: 'next', created_at: new Date() });
    assert.equal(await isKept(181, 'of an earlier version'), false);
  });

  test('§5.35 keep nobody from registering: beyond the most, a client takes the place of the one that was used least', async (t) => {
    const store = await openStore({ path: ':memory:' });
    t.after(() => store.close());
    const clients = oauthClientStore(store, 3);
    await clients.createIndexes();
    const registered = async (_id: string, endsInDays: number) => {
      const created_at = new Date();
      const expires_at = new Date(created_at.getTime() + endsInDays * 24 * 3_600_000);
      const of = { organization_id: null, name: _id, secret_hash: null, permissions: [], redirect_uris: [] };
      await clients.insertRegistered({ ...of, _id, created_at, expires_at, registered: {} });
      const kept = await store.collection<{ _id: string }>('oauth_clients').find({}).toArray();
      return kept.map((one) => one._id).toSorted();
    };
    await registered('used', 180);
    await registered('idle', 90);
    assert.deepEqual(await registered('new', 1), ['idle', 'new', 'used']);
    assert.deepEqual(await registered('newer', 1), ['idle', 'newer', 'used']);
    await registered('kept', 180);
    assert.deepEqual(await registered('newest', 1), ['kept', 'newest', 'used']);
  });

  test('§5.34 register no client that could leak a code, fill the store, or make us ask an address', async (t) => {
    let asked = 0;
    const inside = createServer((socket) => {
      asked += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    t.after(() => inside.close());
    const { port } = inside.address() as AddressInfo;
    const native = { application_type: 'native' };
    const refused: [object, string][] = [
      [{ redirect_uris: ['http://app.example/callback'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['javascript:alert(1)'], ...native }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['app:/callback'], ...native }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['https://a:b@app.example/'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [`${CALLBACK}#x`] }, 'invalid_redirect_uri'],
      [{ contacts: ['x'.repeat(9_000)] }, 'invalid_client_metadata'],
      [{ sector_identifier_uri: `https://127.0.0.1:${port}/` }, 'invalid_client_metadata'],
    ];
    for (const [metadata, error] of refused) {
      const { status, body } = await register('203.0.113.10', metadata);
      assert.equal(`${status} ${body.error}`, `400 ${error}`, JSON.stringify(metadata).slice(0, 100));
    }
    assert.equal(asked, 0);
    for (const redirect_uris of [['http://127.0.0.1:7777/callback'], ['com.example.app:/callback']])
      assert.equal((await register('203.0.113.10', { redirect_uris, ...native })).status, 201);
  });

  test('§5.35 leave no record without an end', async () => {
    const records = await api.store.collection('oauth_records').find({}).toArray();
    assert.ok(records.length > 0);
    for (const { expires_at } of records) assert.ok(expires_at instanceof Date);
  });
});
