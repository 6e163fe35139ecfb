import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { freePort } from '../../../shared/test/support/free-port.ts';
import { demoScan } from '../demo-scan.ts';
import { untilOffered } from '../until-offered.ts';

/** An API that answers each `<method> <path>` with this JSON; its base URL. */
async function apiWith(t: TestContext, answers: Record<string, unknown>): Promise<string> {
  const server = createServer(({ method, url }, response) => {
    const answer = answers[`${method} ${url?.replace(/\?.*/, '')}`];
    response.writeHead(answer === undefined ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { detail: 'not here' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const WAITS = { silentMs: 0, endMs: 700 };
const TARGETING = 'GET /api/v1/proxy/targeting';

it('the first scan says that no exit leads to the ad world, and gives up', async (t) => {
  const said: string[] = [];
  const url = await apiWith(t, { [TARGETING]: { cities: [] } });
  await assert.rejects(
    untilOffered(url, 'key', (text) => said.push(text), WAITS),
    /still no exit of the ad world.*ADSWEEP_EXITS_DIR/,
  );
  assert.equal(said.length, 1);
  assert.match(said[0]!, /^waiting, because there is no exit of the ad world/);
});

it('the first scan says that the API refuses it or is away, and gives up', async (t) => {
  const quiet = () => {};
  await assert.rejects(untilOffered(await apiWith(t, {}), 'key', quiet, WAITS), /returned 503: .*not here/);
  const closed = `http://127.0.0.1:${await freePort()}`;
  await assert.rejects(untilOffered(closed, 'key', quiet, WAITS), /no answer of the API: .*ECONNREFUSED/);
});

it('the first scan begins as soon as the catalogue has cities of its country', async (t) => {
  const said: string[] = [];
  await untilOffered(
    await apiWith(t, { [TARGETING]: { cities: ['Munich'] } }),
    'key',
    (text) => said.push(text),
    WAITS,
  );
  assert.deepEqual(said, []);
});

it('a scan of the demo that no node takes says what it waits for, and gives up', async (t) => {
  const said: string[] = [];
  const scan = { id: 'one', status: 'pending' };
  const answers = {
    'GET /api/v1/geos': [{ country_code: 'DE' }],
    'POST /api/v1/scans': scan,
    'GET /api/v1/scans/one': scan,
  };
  const url = await apiWith(t, answers);
  await assert.rejects(
    demoScan(url, 'key', (text) => said.push(text), WAITS),
    /scan one has been pending for \d+ s: no browser node takes it/,
  );
  assert.match(said[1]!, /^ {2}waiting: scan one has been pending .*\/fleet\/nodes/);
  assert.equal(said.length, 2);
});

it('a scan of the demo is refused with the reason where the catalogue has no exits at all', async (t) => {
  const url = await apiWith(t, { 'GET /api/v1/geos': [] });
  await assert.rejects(
    demoScan(url, 'key', () => {}, WAITS),
    /the catalogue has no exits/,
  );
});
