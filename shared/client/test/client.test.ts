import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { KEYS, PAGE, type RunningApi, runningApi } from '../../../control-plane/test/support/running-api.ts';
import { AdsweepError, adsweep, type Client, type ScanState } from '../src/client.ts';
import { OPERATIONS } from '../src/generated/operations.ts';
import { answer, hangUp, scriptedServer } from './support/scripted-server.ts';

describe('a client of the real API', () => {
  let server: RunningApi;
  let url: string;
  let api: Client;
  before(async () => {
    server = await runningApi();
    url = `http://127.0.0.1:${server.port}`;
    api = adsweep({ url: `${url}/`, key: KEYS.ours });
  });
  after(() => server.stop());

  const total = async () => (await api.listScans({ limit: 1 })).total;

  test('has a method for each operation', () => {
    const missing = Object.keys(OPERATIONS).filter(
      (name) => typeof (api as Record<string, unknown>)[name] !== 'function',
    );
    assert.deepEqual(missing, []);
  });

  test('estimates, creates, reads and cancels a scan', async () => {
    const estimate = await api.createScan(PAGE, { query: { dry_run: true } });
    assert.deepEqual([estimate.dry_run, estimate.scans], [true, 1]);
    const { id, status } = await api.createScan({ ...PAGE, labels: { team: 'a b/c' } });
    assert.equal(status, 'pending');
    assert.equal((await api.getScan(id)).id, id);
    assert.deepEqual(await api.listScanTags(id), []);
    assert.deepEqual(await api.cancelScan(id), { cancelled_count: 1 });
    assert.equal((await api.getScan(id)).status, 'cancelled');
  });

  test('encodes ids, so that an id leads to no other operation', async () => {
    await assert.rejects(api.getScan('../geos'), { status: 404, code: 'not_found' });
    await assert.rejects(api.getScan(''), { name: 'TypeError', message: 'getScan: id is missing' });
    await assert.rejects(api.listRunScans('..'), { name: 'TypeError', message: 'listRunScans: run_id cannot be ..' });
    await assert.rejects(api.getCampaign('.'), { name: 'TypeError', message: 'getCampaign: campaign_id cannot be .' });
  });

  test('takes its key from a function each time, and rejects with the refusal of the API', async () => {
    const keys = ['wrong', KEYS.ours];
    const other = adsweep({ url, key: async () => keys.shift()! });
    await assert.rejects(other.getAccount(), (error) => error instanceof AdsweepError && error.status === 401);
    assert.equal((await other.getAccount()).id, (await api.getAccount()).id);
  });

  test('creates a scan once if the answer of its creation is lost', async () => {
    const before = await total();
    const lost = new Set<string>();
    const careless = adsweep({
      ...{ url, key: KEYS.ours },
      fetch: async (request) => {
        const response = await fetch(request);
        if (lost.has(request.url)) return response;
        lost.add(request.url);
        throw new TypeError('the connection broke');
      },
    });
    const idempotencyKey = crypto.randomUUID();
    const { id } = await careless.createScan(PAGE, { idempotencyKey });
    assert.equal((await api.createScan(PAGE, { idempotencyKey })).id, id);
    assert.equal(await total(), before + 1);
    await api.cancelScan(id);
  });

  test('reads every item of a list with cursors and of a list with pages', async () => {
    const { country_code, ...target } = PAGE;
    await api.createScansInBulk({ ...target, country_codes: [country_code], repeat_count: 3 });
    const ids = new Set<string>();
    for await (const { id } of api.listScans.each({ limit: 2, status: 'pending' })) ids.add(id);
    assert.equal(ids.size, 3);
    const ofLastPage = api.listScans.each({ limit: 2, page: 2, status: 'pending' });
    assert.ok(ids.has((await ofLastPage.next()).value!.id));
    assert.equal((await ofLastPage.next()).done, true);

    const campaign = { url: PAGE.url, country_codes: [country_code], emulator_specific_ids: [PAGE.emulator_id] };
    for (const name of ['a', 'b', 'c']) await api.createCampaign({ ...campaign, name });
    const names: string[] = [];
    for await (const { name } of api.listCampaigns.each({ limit: 2 })) names.push(name);
    assert.deepEqual(names.toSorted(), ['a', 'b', 'c']);
  });

  test('waits for a scan by its stream of events, and resolves to the ended scan', async () => {
    const { id } = await api.createScan(PAGE);
    const states: ScanState['status'][] = [];
    const ended = await api.scans.wait(id, {
      onState: ({ status }) => {
        states.push(status);
        if (status === 'pending') void api.cancelScan(id);
      },
    });
    assert.deepEqual([states, ended.status], [['pending', 'cancelled'], 'cancelled']);
  });

  test('waits by asking again where the stream is cut', async () => {
    const { id } = await api.createScan(PAGE);
    let asked = 0;
    const cut = adsweep({
      ...{ url, key: KEYS.ours, retries: 0 },
      fetch: async (request) => {
        if (request.url.endsWith('/events')) throw new TypeError('cut');
        if (++asked === 1) await api.cancelScan(id);
        return fetch(request);
      },
    });
    assert.equal((await cut.scans.wait(id)).status, 'cancelled');
    assert.equal(asked, 1);
  });

  test('does not wait for a scan that does not exist, nor longer than its signal', async () => {
    await assert.rejects(api.scans.wait(crypto.randomUUID()), { status: 404 });
    const { id } = await api.createScan(PAGE);
    await assert.rejects(api.scans.wait(id, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' });
    await api.cancelScan(id);
  });
});

test('waiting goes on without the stream of events if the server refuses it', async (t) => {
  const full = answer(503, { detail: 'Too many streams are open.', code: 'unavailable' }, { 'retry-after': '60' });
  const { api, requests } = await scriptedServer(t, [full, answer(200, { id: 'one', status: 'completed' })]);
  assert.equal((await api.scans.wait('one')).status, 'completed');
  assert.equal(requests.length, 2);
});

test('waiting for a scan that was seen goes on while the server restarts, and ends when it refuses', async (t) => {
  const restarting = answer(503, { detail: 'It starts.', code: 'unavailable' });
  const running = answer(200, { id: 'one', status: 'running' });
  const ended = answer(200, { id: 'one', status: 'completed' });
  const seen = await scriptedServer(t, [restarting, running, hangUp, ended], { retries: 0 });
  assert.equal((await seen.api.scans.wait('one')).status, 'completed');
  const unseen = await scriptedServer(t, [restarting], { retries: 0 });
  await assert.rejects(unseen.api.scans.wait('one'), { status: 503 });
  const gone = answer(404, { detail: 'Not found.', code: 'not_found' });
  const removed = await scriptedServer(t, [restarting, running, gone], { retries: 0 });
  await assert.rejects(removed.api.scans.wait('one'), { status: 404 });
});

test('no item of a list is passed over whose items are taken out of it while they are read', async (t) => {
  let rules = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => ({ id }));
  const { api } = await scriptedServer(t, [
    (response, request) => {
      const [, id] = request.url!.match(/custom-rules\/(\w)$/) ?? [];
      rules = rules.filter((one) => one.id !== id);
      const page = Number(new URL(request.url!, 'http://a').searchParams.get('page') ?? 1);
      const items = rules.slice(2 * (page - 1), 2 * page);
      const pages = Math.ceil(rules.length / 2);
      if (id === undefined) answer(200, { items, total: rules.length, page, limit: 2, pages })(response, request);
      else response.writeHead(204).end();
    },
  ]);
  const read: string[] = [];
  for await (const { id } of api.listCustomRules.each({ limit: 2 })) {
    read.push(id);
    if (id !== 'b') await api.deleteCustomRule(id);
  }
  assert.deepEqual([read, rules], [['a', 'b', 'c', 'd', 'e', 'f', 'g'], [{ id: 'b' }]]);
});

test('items of a list to which others are added while it is read are each read once', async (t) => {
  const page = (number: number, ...ids: string[]) =>
    answer(200, { items: ids.map((id) => ({ id })), total: 3, page: number, limit: 2, pages: 2 });
  const { api } = await scriptedServer(t, [page(1, 'third', 'second'), page(2, 'second', 'first')]);
  const read: string[] = [];
  for await (const { id } of api.listBillingHistory.each({ limit: 2 })) read.push(id);
  assert.deepEqual(read, ['third', 'second', 'first']);
});

test('a picture is a Blob and a markup a text', async (t) => {
  const picture = (response: Parameters<ReturnType<typeof answer>>[0]) =>
    void response.writeHead(200, { 'content-type': 'image/webp' }).end('RIFF');
  const markup = (response: Parameters<ReturnType<typeof answer>>[0]) =>
    void response.writeHead(200, { 'content-type': 'text/plain' }).end('<b>');
  const { api, requests } = await scriptedServer(t, [picture, markup]);
  const blob = await api.getScanLandingScreenshot('one', 0, { w: 400 });
  assert.deepEqual([blob.type, await blob.text()], ['image/webp', 'RIFF']);
  assert.equal(await api.getScanCreativeHtml('one'), '<b>');
  assert.equal(requests[0]!.url, '/api/v1/scans/one/landings/0/screenshot?w=400');
});
