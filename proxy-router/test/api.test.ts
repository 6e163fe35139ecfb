import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROUTER_PASS_MS, routerPass } from '@adsweep/shared/lease/router-pass.ts';
import { CatalogueSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { ExitTicketSchema, TicketTrafficSchema } from '@adsweep/shared/targeting/exit-ticket.ts';
import { Value } from 'typebox/value';
import { ConnectionFailure } from '../src/providers/connection-failure.ts';
import { request, tunnelStatus } from './support/proxy-client.ts';
import { exitIn, NODE_TOKEN, startTestRouter, targeting } from './support/router.ts';

const asked = { targeting: targeting(), session: 's', scan_id: 'scan', ttl_seconds: 60 };

type Refusal = { detail: string | { loc: string[]; type: string }[]; code: string };

test('a ticket says what the exit is known to be and where the gateway is', async (t) => {
  const router = await startTestRouter(t, { exits: [exitIn('US', { region: 'Texas', isp: 'Acme' })] });
  const before = Date.now();
  const answer = await router.call('POST', '/exits', asked);
  const ticket: unknown = await answer.json();
  assert.equal(answer.status, 201);
  assert.ok(Value.Check(ExitTicketSchema, ticket));
  assert.equal(ticket.server, `http://127.0.0.1:${router.ports.gateway}`);
  assert.ok(Date.parse(ticket.expires_at) >= before + 60_000);
  const { region, city, isp, session, provider, exit_id } = ticket.exit;
  assert.deepEqual(
    [region, city, isp, session, provider, exit_id],
    ['Texas', null, 'Acme', 's', 'direct', 'direct-us'],
  );
});

test('the gateway’s URL can be set for nodes that reach it by another name', async (t) => {
  const router = await startTestRouter(t, { config: { ADSWEEP_GATEWAY_URL: 'http://gateway.fleet:3128' } });
  assert.equal((await router.ticket()).server, 'http://gateway.fleet:3128');
});

test('answers have the shapes that nodes and the control plane expect', async (t) => {
  const router = await startTestRouter(t);
  const ticket = await router.ticket();
  const catalogue: unknown = await (await router.call('GET', '/catalogue')).json();
  assert.ok(Value.Check(CatalogueSchema, catalogue));
  const traffic: unknown = await router.traffic(ticket);
  assert.ok(Value.Check(TicketTrafficSchema, traffic));
  assert.deepEqual([traffic.bytes_sent, traffic.hosts, traffic.requests], [0, [], []]);
});

test('calls without the node token are refused, probes are not', async (t) => {
  const router = await startTestRouter(t);
  const base = `http://127.0.0.1:${router.ports.api}`;
  for (const path of ['/catalogue', '/exits/x/traffic']) {
    assert.equal((await fetch(base + path)).status, 401, path);
    assert.equal((await fetch(base + path, { headers: { authorization: 'Bearer wrong' } })).status, 401, path);
  }
  assert.equal((await fetch(`${base}/exits`, { method: 'POST', body: JSON.stringify(asked) })).status, 401);
  assert.equal((await fetch(`${base}/exits/x`, { method: 'DELETE' })).status, 401);
  for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(base + path)).status, 200, path);
  assert.equal((await fetch(`${base}/metrics`)).status, 401);
});

test('calls with the pass of an enrolled node are served until it expires, and under the router’s tokens alone', async (t) => {
  const router = await startTestRouter(t);
  const status = async (credential: string) => {
    const headers = { authorization: `Bearer ${credential}` };
    return (await fetch(`http://127.0.0.1:${router.ports.api}/catalogue`, { headers })).status;
  };
  const now = Date.now();
  const pass = routerPass(NODE_TOKEN, 'node-1', new Date(now));
  assert.equal(await status(pass), 200);
  assert.equal(await status(routerPass(NODE_TOKEN, 'node-1', new Date(now - ROUTER_PASS_MS))), 401);
  assert.equal(await status(routerPass('another-token-of-nodes', 'node-1', new Date(now))), 401);
  assert.equal(await status(pass.replace('node-1', 'node-2')), 401);
  assert.equal(await status(pass.replace(String(now + ROUTER_PASS_MS), String(now + 2 * ROUTER_PASS_MS))), 401);
});

test('§4.1.3 a place without an exit is 404 NODE_NOT_FOUND', async (t) => {
  const router = await startTestRouter(t);
  const answer = await router.call('POST', '/exits', { ...asked, targeting: targeting({ country_code: 'FR' }) });
  const { detail, code } = (await answer.json()) as Refusal;
  assert.deepEqual([answer.status, code, typeof detail], [404, 'NODE_NOT_FOUND', 'string']);
});

test('an exit that fails goes out of service: 503 NODE_BUSY until it may be tried again', async (t) => {
  const provider = {
    resolvesNames: true,
    dial: () => Promise.reject(new ConnectionFailure('upstream_failed', 'the vendor is down')),
  };
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  assert.equal(await tunnelStatus(ticket, 'shop.example:443'), 599);
  const answer = await router.call('POST', '/exits', asked);
  const { code } = (await answer.json()) as Refusal;
  assert.deepEqual([answer.status, code], [503, 'NODE_BUSY']);
});

test('a provider that breaks is an upstream failure, not a page', async (t) => {
  const provider = {
    resolvesNames: true,
    dial: () => Promise.reject(new Error('secret of the vendor')),
  };
  const router = await startTestRouter(t, { provider });
  const { status, body } = await request(await router.ticket(), 'http://shop.example/');
  assert.deepEqual([status, body], [599, 'gateway: upstream_failed']);
});

test('all problems of a request are told at once', async (t) => {
  const router = await startTestRouter(t);
  const answer = await router.call('POST', '/exits', {
    targeting: { ...targeting({ country_code: 'usa' }), colour: 'red' },
    session: '',
    ttl_seconds: 1e9,
    extra: 1,
  });
  const { detail, code } = (await answer.json()) as Refusal;
  assert.deepEqual([answer.status, code], [422, 'validation_error']);
  assert.ok(Array.isArray(detail));
  const places = detail.map(({ loc, type }) => `${loc.join('.')} ${type}`).sort();
  assert.deepEqual(places, [
    'body.extra unexpected_field',
    'body.scan_id missing',
    'body.session string_too_short',
    'body.targeting.colour unexpected_field',
    'body.targeting.country_code string_pattern_mismatch',
    'body.ttl_seconds less_than_equal',
  ]);
});

test('a body that is not JSON, or too large, is refused', async (t) => {
  const router = await startTestRouter(t);
  const send = (body: string) =>
    fetch(`http://127.0.0.1:${router.ports.api}/exits`, {
      method: 'POST',
      headers: { authorization: 'Bearer node-token-of-the-tests' },
      body,
    });
  const broken = await send('{');
  const { detail } = (await broken.json()) as Refusal;
  assert.deepEqual([broken.status, Array.isArray(detail) && detail[0]?.type], [422, 'json_invalid']);
  assert.equal((await send(JSON.stringify({ session: 'x'.repeat(70_000) }))).status, 413);
});

test('unknown paths and unknown tickets are 404 not_found', async (t) => {
  const router = await startTestRouter(t);
  for (const path of ['/nothing', '/exits/unknown/traffic']) {
    const answer = await router.call('GET', path);
    assert.deepEqual([answer.status, ((await answer.json()) as Refusal).code], [404, 'not_found'], path);
  }
  assert.equal((await router.call('DELETE', '/exits/unknown')).status, 204);
});

test('tickets, connections, bytes and requests are measured, without ids or hosts in labels', async (t) => {
  const router = await startTestRouter(t);
  const ticket = await router.ticket();
  await request(ticket, 'http://127.0.0.1/');
  await request({ ...ticket, password: 'x' }, 'http://127.0.0.1/');
  const text = await (
    await fetch(`http://127.0.0.1:${router.ports.api}/metrics`, { headers: { authorization: `Bearer ${NODE_TOKEN}` } })
  ).text();
  const has = (line: string) => assert.ok(text.includes(line), line);
  has('adsweep_exit_tickets_total{outcome="issued",service="proxy-router"} 1');
  has('adsweep_gateway_connections_total{outcome="private_address",service="proxy-router"} 1');
  has('adsweep_gateway_bytes_total{direction="received",service="proxy-router"} 0');
  has('adsweep_gateway_refused_credentials_total{service="proxy-router"} 1');
  has('route="/exits"');
  assert.ok(!text.includes(ticket.ticket_id));
});
