import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { until } from '../../shared/test/support/until.ts';
import { upstreamRefusal } from '../src/providers/upstream-refusal.ts';
import { fillTemplate, templateProblems, type UserNameValues, userNameValues } from '../src/providers/user-name.ts';
import { VENDORS } from '../src/providers/vendors.ts';
import { request } from './support/proxy-client.ts';
import { exitIn, startTestRouter, targeting, temporaryFolder, vendorConfig } from './support/router.ts';
import { startVendor } from './support/simulated-vendor.ts';
import { startTarget } from './support/target.ts';

const HOST = 'account-suspended.example';
const nothing: UserNameValues = { country: 'us', region: '', city: '', isp: '', session: '', proxy_type: 'mobile' };

test('a user name leaves out the parts in brackets that have an empty value', () => {
  const template = 'cust-42[-cc-{country}][-city-{city}][-s-{session}]';
  assert.equal(fillTemplate(template, nothing), 'cust-42-cc-us');
  assert.equal(fillTemplate(template, { ...nothing, city: 'austin', session: 's1' }), 'cust-42-cc-us-city-austin-s-s1');
  assert.equal(fillTemplate('a[-{region}_{city}]-{proxy_type}', { ...nothing, city: 'austin' }), 'a-mobile');
  assert.equal(fillTemplate('plain{isp}', nothing), 'plain');
});

test('all that is wrong with a template is told', () => {
  assert.deepEqual(templateProblems('a[-{country}]-{session}'), []);
  assert.equal(templateProblems('a:{land}[[b]]{').length, 5);
});

test('values are in lower case with `_` for spaces; a session is letters and digits, whatever was sent', () => {
  const exit = exitIn('US', { region: 'New York', city: 'St. Louis: East', isp: 'AT&T' });
  const values = userNameValues({ exit, session: 's-1:x' }, VENDORS.template.spelling);
  assert.deepEqual(
    [values.country, values.region, values.city, values.isp],
    ['us', 'new_york', 'st._louis_east', 'at&t'],
  );
  assert.match(values.session, /^[0-9a-f]{16}$/);
  assert.equal(userNameValues({ exit, session: 'abc1' }, VENDORS.template.spelling).session, 'abc1');
});

test('each vendor is addressed as its documents say', () => {
  const name = (kind: 'brightdata' | 'oxylabs' | 'netnut', country: string, place: object, session = 'abc') => {
    const { suffix, spelling } = VENDORS[kind];
    return `me${suffix(userNameValues({ exit: exitIn(country, place), session }, spelling))}`;
  };
  const newYork = { region: 'New York', city: 'New York' };
  const lyon = { region: 'Auvergne-Rhône-Alpes', city: 'Lyon' };
  assert.equal(name('brightdata', 'US', newYork), 'me-country-us-state-ny-city-newyork-session-abc');
  assert.equal(name('brightdata', 'AR', { city: 'Buenos Aires' }), 'me-country-ar-city-buenosaires-session-abc');
  assert.equal(name('oxylabs', 'US', newYork), 'me-st-us_new_york-city-new_york-sessid-abc');
  assert.equal(name('oxylabs', 'GB', { city: 'London' }), 'me-cc-gb-city-london-sessid-abc');
  assert.equal(name('oxylabs', 'DE', {}), 'me-cc-de-sessid-abc');
  const withoutSession = (text: string) => text.replace(/-sid-\d+$/, '');
  assert.equal(withoutSession(name('netnut', 'NL', {})), 'me-res-nl');
  assert.equal(withoutSession(name('netnut', 'GB', { proxy_type: 'mobile' })), 'me-mob-uk');
  assert.equal(withoutSession(name('netnut', 'US', newYork)), 'me-res_sc-us_newyork_newyork');
  assert.equal(withoutSession(name('netnut', 'FR', lyon)), 'me-res_sc-fr_lyon');
  for (let index = 0; index < 100; index += 1) {
    const session = Number(/-sid-([1-9]\d*)$/.exec(name('netnut', 'US', {}, `s${index}`))?.[1]);
    assert.ok(session >= 10_000 && session <= 999_999_999, `${session}`);
  }
});

test('each vendor’s own words for a refusal are understood, before its status', () => {
  const outcome = (kind: keyof typeof VENDORS, status: number, body: string, headers: Record<string, string> = {}) =>
    upstreamRefusal({ status, reason: '', headers: new Map(Object.entries(headers)), body }, VENDORS[kind].texts, HOST)
      .outcome;
  assert.equal(outcome('brightdata', 407, '', { 'x-brd-err-code': 'client_10000' }), 'account_refused');
  assert.equal(outcome('brightdata', 502, 'no_peer'), 'no_exit');
  assert.equal(outcome('brightdata', 400, '', { 'x-brd-err-code': 'client_10062' }), 'no_exit');
  assert.equal(outcome('brightdata', 402, '', { 'x-brd-err-code': 'policy_20130' }), 'denied_host');
  const details =
    'brd.superproxy.io; received-status=403; error="destination_ip_prohibited"; details="policy_20050: x"';
  assert.equal(outcome('brightdata', 403, '', { 'proxy-status': details }), 'denied_host');
  assert.equal(outcome('oxylabs', 525, ''), 'no_exit');
  assert.equal(
    outcome('oxylabs', 403, '', { 'x-error-description': 'Access denied: restricted target' }),
    'denied_host',
  );
  assert.equal(outcome('oxylabs', 407, 'Access denied: traffic limit reached'), 'account_refused');
  assert.equal(outcome('oxylabs', 502, ''), 'upstream_failed');
  assert.equal(outcome('netnut', 500, 'quota exceeded'), 'account_refused');
  const echo = `http://${HOST}/ cannot be retrieved`;
  assert.equal(outcome('template', 503, echo), 'upstream_failed', 'the name of the target gives no reason');
});

test('an account of each kind is asked for the place and the session of a ticket', async (t) => {
  const asked: string[] = [];
  const gate = http.createServer().on('connect', ({ headers }, client) => {
    const [, basic = ''] = headers['proxy-authorization']?.split(' ') ?? [];
    asked.push(Buffer.from(basic, 'base64').toString());
    client.end('HTTP/1.1 502 x\r\n\r\n');
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  t.after(() => gate.close());
  const endpoint = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
  const folder = temporaryFolder();
  const kinds = { brightdata: 'US', oxylabs: 'DE', netnut: 'FR', template: 'GB' } as const;
  const providers = Object.entries(kinds).map(([kind, country_code]) => {
    const catalogue = join(folder, `${kind}.json`);
    const place = { country_code, proxy_type: 'residential', region: 'New Land', city: 'Old Town', pool_size: 1 };
    writeFileSync(catalogue, JSON.stringify({ places: [place] }));
    const username = kind === 'template' ? 'me[-{proxy_type}]-{country}[-{region}][-{isp}]-{session}' : 'me';
    return vendorConfig({ id: kind, kind: kind as keyof typeof kinds, endpoint, username, catalogue });
  });
  const router = await startTestRouter(t, { providers });
  for (const country_code of Object.values(kinds)) {
    const wanted = targeting({ country_code, region: 'new land', city: 'OLD TOWN' });
    assert.equal((await request(await router.ticket({ targeting: wanted }), 'http://shop.example/')).status, 599);
  }
  const session = 'a4f1';
  assert.deepEqual(
    asked.map((one) => one.replace(/[0-9a-f]{16}(?=:)/, session).replace(/-sid-\d+/, '-sid-7')),
    [
      `me-country-us-state-newland-city-oldtown-session-${session}:secret`,
      `me-st-de_new_land-city-old_town-sessid-${session}:secret`,
      'me-res_sc-fr_oldtown-sid-7:secret',
      `me-residential-gb-new_land-${session}:secret`,
    ],
  );
});

const places = (more: object[] = []) => ({
  places: [
    { country_code: 'us', proxy_type: 'residential', region: 'Texas', city: 'Austin', isp: null, pool_size: 50 },
    { country_code: 'US', proxy_type: 'residential', region: 'New York', city: 'New York', pool_size: 500 },
    ...more,
  ],
});

/** A router with one vendor's account, whose catalogue is a file, and a target that the vendor knows as `shop.example`. */
async function routerWithVendor(t: TestContext, config: Parameters<typeof vendorConfig>[0] = {}) {
  const target = await startTarget(t);
  const vendor = await startVendor(t);
  vendor.hosts['shop.example'] = target.address;
  const catalogue = join(temporaryFolder(), 'places.json');
  writeFileSync(catalogue, JSON.stringify(places()));
  const account = vendorConfig({ endpoint: `http://${vendor.address}`, catalogue, ...config });
  const router = await startTestRouter(t, { providers: [account] });
  const read = async () => (await (await router.call('GET', '/catalogue')).json()) as Catalogue;
  return { target, vendor, router, catalogue, account, read };
}

test('a vendor is told the place and the session, and the same session by every ticket', async (t) => {
  const { vendor, router } = await routerWithVendor(t);
  const wanted = { targeting: targeting({ region: 'New york', city: 'NEW YORK' }), session: 'abc' };
  for (const ticket of [await router.ticket(wanted), await router.ticket(wanted)]) {
    assert.equal((await request(ticket, 'http://shop.example/')).body, 'a page');
    const { provider, exit_id, country_code, region, city, isp } = ticket.exit;
    assert.deepEqual([provider, country_code, region, city, isp], ['vendor', 'US', 'New York', 'New York', null]);
    assert.equal(exit_id, 'vendor/US/residential/New%20York/New%20York/');
  }
  const asked = { account: 'cust-42', country: 'us', city: 'new_york', session: 'abc', authority: 'shop.example:80' };
  assert.deepEqual(vendor.asked, [asked, asked]);
  await router.ticket({ targeting: targeting({ country_code: 'FR' }) }).then(
    () => assert.fail('France is not in the catalogue'),
    (error: Error) => assert.match(error.message, /404.*NODE_NOT_FOUND/),
  );
});

test('what a vendor does not have after all is no_exit, then 404 NODE_NOT_FOUND', async (t) => {
  const { router, catalogue } = await routerWithVendor(t);
  writeFileSync(catalogue, JSON.stringify(places([{ ...places().places[0], city: 'Waco' }])));
  const wanted = { targeting: targeting({ city: 'Waco' }) };
  const ticket = await until('the changed catalogue', () => router.ticket(wanted).catch(() => null));
  assert.equal((await request(ticket, 'http://shop.example/')).status, 596);
  await assert.rejects(router.ticket(wanted), /404.*NODE_NOT_FOUND/);
});

test('an account has no more tickets in use than it may, over all its places', async (t) => {
  const { router } = await routerWithVendor(t, { tickets_max: 2 });
  await router.ticket({ session: 'a' });
  await router.ticket({ session: 'b', targeting: targeting({ city: 'Austin' }) });
  await assert.rejects(router.ticket({ session: 'c' }), /503.*NODE_BUSY/);
});

test('§2.3.1 the catalogue is the vendor’s, largest first; a change of its file is taken up, a wrong one is not', async (t) => {
  const { catalogue, read } = await routerWithVendor(t);
  const cities = async () => (await read()).pools[0]?.cities;
  assert.deepEqual(await cities(), ['New York', 'Austin']);
  writeFileSync(catalogue, JSON.stringify(places([{ ...places().places[0], city: 'Waco', pool_size: 7_000 }])));
  await until('the changed catalogue', async () => (await cities())?.[0] === 'Waco');
  const before = await read();
  writeFileSync(catalogue, JSON.stringify({ places: [{ country_code: 'US' }] }));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual((await read()).pools[0]?.cities, before.pools[0]?.cities);
});

test('a password comes from a file beside the exits file, without its last newline', async (t) => {
  const { vendor, router, account } = await routerWithVendor(t);
  writeFileSync(join(dirname(router.file), 'password'), 'secret\n');
  const { password: _, ...rest } = account;
  writeFileSync(router.file, JSON.stringify({ providers: [{ ...rest, id: 'other', password_file: 'password' }] }));
  const ticket = await until('the changed file', async () => {
    const one = await router.ticket();
    return one.exit.provider === 'other' && one;
  });
  assert.equal((await request(ticket, 'http://shop.example/')).status, 200);
  assert.equal(vendor.asked.length, 1);
});

/** A server of catalogues; `answer` is what it says next. */
async function startCatalogueServer(t: TestContext, answer: { status: number; body: string }) {
  const seen: http.IncomingMessage[] = [];
  const server = http.createServer((incoming, response) => {
    seen.push(incoming);
    response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test('§2.3.3 a catalogue at a URL is fetched on a schedule; its countries have no time before the first', async (t) => {
  const answer = { status: 503, body: '' };
  const { host, seen } = await startCatalogueServer(t, answer);
  const account = vendorConfig({ catalogue: `http://me:pass@${host}/places` });
  const config = { ADSWEEP_CATALOGUE_REFRESH_SECONDS: 0.05 };
  const router = await startTestRouter(t, { providers: [account], config });
  const read = async () => (await (await router.call('GET', '/catalogue')).json()) as Catalogue;
  await until('a failed fetch', () => seen.length > 0);
  assert.equal(seen[0]?.headers.authorization, `Basic ${Buffer.from('me:pass').toString('base64')}`);
  assert.deepEqual(await read(), { refreshed_at: null, pools: [] });
  Object.assign(answer, { status: 200, body: JSON.stringify(places()) });
  const first = await until('the catalogue', async () => {
    const now = await read();
    return now.pools.length > 0 && now;
  });
  await until('another fetch', async () => (await read()).pools[0]!.refreshed_at > first.pools[0]!.refreshed_at);
  for (const body of ['{ "places": [ {} ] }', '{ "places": [] }']) {
    answer.body = body;
    const before = seen.length;
    await until('a wrong catalogue', () => seen.length > before + 1);
    assert.deepEqual((await read()).pools[0]?.cities, ['New York', 'Austin'], body);
  }
});

test('what no exit has may be had later until the catalogue of every provider was read: 503, then 404', async (t) => {
  const answer = { status: 503, body: '' };
  const { host } = await startCatalogueServer(t, answer);
  const account = vendorConfig({ catalogue: `http://${host}/places` });
  const config = { ADSWEEP_CATALOGUE_REFRESH_SECONDS: 0.05 };
  const router = await startTestRouter(t, { exits: [exitIn('DE')], providers: [account], config });
  const refusal = (country_code: string) =>
    router.ticket({ targeting: targeting({ country_code }) }).then(
      () => 'issued',
      (error: Error) => /\d{3}: .*"code":"(\w+)"/.exec(error.message)?.[1],
    );
  assert.deepEqual(
    [await refusal('DE'), await refusal('US'), await refusal('FR')],
    ['issued', 'NODE_BUSY', 'NODE_BUSY'],
  );
  Object.assign(answer, { status: 200, body: JSON.stringify(places()) });
  await until('the catalogue', async () => (await refusal('US')) === 'issued');
  assert.equal(await refusal('FR'), 'NODE_NOT_FOUND');
});

test('a router that starts without a copy of a catalogue is not ready before its provider has answered', async (t) => {
  const asked = Promise.withResolvers<http.ServerResponse>();
  const slow = await startTarget(t, (_, response) => asked.resolve(response));
  const account = vendorConfig({ catalogue: `http://${slow.address}/places` });
  const router = await startTestRouter(t, { exits: [exitIn('DE')], providers: [account] });
  const ready = () => fetch(`http://127.0.0.1:${router.ports.api}/readyz`);
  const answer = await asked.promise;
  const before = await ready();
  const { missing } = (await before.json()) as { missing: string[] };
  assert.deepEqual([before.status, missing.length], [503, 1]);
  assert.match(missing[0]!, /^a catalogue/);
  answer.writeHead(500).end();
  await until('the router', async () => (await ready()).status === 200);
});

test('a catalogue at a URL with another credential replaces the one before once it was fetched, in the snapshot too', async (t) => {
  const answer = { status: 200, body: JSON.stringify(places()) };
  const { host, seen } = await startCatalogueServer(t, answer);
  const folder = temporaryFolder();
  const account = (key: string) => vendorConfig({ catalogue: `http://${host}/places?key=${key}` });
  const config = { ADSWEEP_DATA_DIR: folder, ADSWEEP_CATALOGUE_REFRESH_SECONDS: 0.05 };
  const router = await startTestRouter(t, { providers: [account('one')], config });
  const snapshot = join(folder, 'catalogues-snapshot.json');
  const kept = () => Object.keys((JSON.parse(readFileSync(snapshot, 'utf8')) as { catalogues: object }).catalogues);
  const [first] = await until('the first catalogue', () => existsSync(snapshot) && kept());
  answer.status = 503;
  writeFileSync(router.file, JSON.stringify({ providers: [account('two')] }));
  await until('the other URL to be asked', () => seen.some(({ url }) => url?.endsWith('two')));
  await router.ticket();
  answer.status = 200;
  await until('the other one alone', () => kept().length === 1 && kept()[0] !== first);
  await router.ticket();
});

test('a fetched catalogue outlives a restart while the vendor is away', async (t) => {
  const answer = { status: 200, body: JSON.stringify(places()) };
  const { host } = await startCatalogueServer(t, answer);
  const folder = temporaryFolder();
  const account = vendorConfig({ catalogue: `http://${host}/places` });
  const options = { providers: [account], config: { ADSWEEP_DATA_DIR: folder } };
  const router = await startTestRouter(t, options);
  const pools = async (one: typeof router) => ((await (await one.call('GET', '/catalogue')).json()) as Catalogue).pools;
  await until('the catalogue', async () => (await pools(router)).length > 0);
  const before = await pools(router);
  await router.stop();
  Object.assign(answer, { status: 500 });
  assert.deepEqual(await pools(await startTestRouter(t, options)), before);
});

test('no credential is in a snapshot', async (t) => {
  const folder = temporaryFolder();
  const { router, account } = await routerWithVendor(t);
  await router.stop();
  const listed = { provider: 'list', upstream: 'http://user:hunter2@proxy.example:8080' };
  const secretFile = join(folder, 'password');
  writeFileSync(secretFile, 'secret');
  const tokenInQuery = vendorConfig({
    id: 'token',
    password: undefined,
    password_file: secretFile,
    catalogue: 'http://127.0.0.1:9/places?token=hunter2',
  });
  await startTestRouter(t, {
    exits: [exitIn('US'), exitIn('DE', listed), exitIn('FR', { provider: 'list', upstream: 'http://proxy.example' })],
    providers: [account, tokenInQuery],
    config: { ADSWEEP_DATA_DIR: folder },
  });
  const text = readFileSync(join(folder, 'exits-snapshot.json'), 'utf8');
  assert.doesNotMatch(text, /secret|hunter2/);
  const { file } = JSON.parse(text) as { file: { exits: { country_code: string }[]; providers: unknown[] } };
  assert.deepEqual([file.exits.map(({ country_code }) => country_code), file.providers], [['US', 'FR'], []]);
});

test('an account whose password the operator has corrected is used at once', async (t) => {
  const { router, account } = await routerWithVendor(t, { password: 'wrong' });
  assert.equal((await request(await router.ticket(), 'http://shop.example/')).status, 592);
  await assert.rejects(router.ticket(), /403.*ACCOUNT_REFUSED/);
  writeFileSync(router.file, JSON.stringify({ providers: [{ ...account, password: 'secret' }] }));
  const ticket = await until('the corrected account', () => router.ticket().catch(() => null));
  assert.equal((await request(ticket, 'http://shop.example/')).status, 200);
});

test('a catalogue that the user name did not allow is fetched once the user name was corrected', async (t) => {
  const german = { ...places().places[0]!, country_code: 'DE' };
  const answer = { status: 200, body: JSON.stringify(places([...places().places, german])) };
  const { host, seen } = await startCatalogueServer(t, answer);
  const account = vendorConfig({ username: 'cust-42', catalogue: `http://${host}/places` });
  const config = { ADSWEEP_CATALOGUE_REFRESH_SECONDS: 0.05 };
  const router = await startTestRouter(t, { providers: [account], config });
  await until('a fetch', () => seen.length > 1);
  await assert.rejects(router.ticket(), /503.*NODE_BUSY/);
  writeFileSync(router.file, JSON.stringify({ providers: [{ ...account, username: 'cust-42-cc-{country}' }] }));
  await until('the catalogue', () => router.ticket().catch(() => null));
});
