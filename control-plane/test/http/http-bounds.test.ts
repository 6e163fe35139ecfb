import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ExitRequestSchema } from '@adsweep/shared/targeting/exit-ticket.ts';
import { until } from '../../../shared/test/support/until.ts';
import { resultsOf } from '../../src/crawling/node-api/admit-node.ts';
import { ArrivingBodies, addressAsOwner, type BodyOwner, jsonExtent, parseJson } from '../../src/http/read-body.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { itemsOf, KEYS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';
import { type RunningFarm, runningFarm } from '../support/running-farm.ts';

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] };

/** Places of a request's schema where a client may send as many members as it likes. */
function unboundedIn(schema: Schema, at: string): string[] {
  const isOpen = schema.additionalProperties !== false || schema.patternProperties !== undefined;
  const own = [
    schema.type === 'array' && schema.maxItems === undefined ? [`${at} has no maxItems`] : [],
    schema.type === 'object' && isOpen && schema.maxProperties === undefined ? [`${at} has no maxProperties`] : [],
  ].flat();
  const below = [
    ...Object.entries(schema.properties ?? {}).map(([name, member]) => [member, `${at}.${name}`] as const),
    ...Object.values((schema.patternProperties as Record<string, Schema>) ?? {}).map(
      (one) => [one, `${at}.*`] as const,
    ),
    ...(schema.items ? [[schema.items, `${at}[]`] as const] : []),
    ...(schema.anyOf ?? []).map((branch, position) => [branch, `${at}|${position}`] as const),
  ];
  return [...own, ...below.flatMap(([member, place]) => unboundedIn(member, place))];
}

describe('limits of a request', () => {
  let api: RunningApi;
  let farm: RunningFarm;
  before(async () => {
    [api, farm] = await Promise.all([runningApi(), runningFarm()]);
  });
  after(() => Promise.all([api.stop(), farm.stop()]));

  test('every array and object in a request schema has a maximum size', () => {
    const routes = [...api.routes, ...farm.farm.nodeRoutes] as unknown as {
      path: string;
      query: Schema;
      body: Schema;
    }[];
    assert.ok(routes.length > 15);
    const unbounded = routes.flatMap(({ path, query, body }) => [
      ...unboundedIn(query, `${path} query`),
      ...(body ? unboundedIn(body, `${path} body`) : []),
    ]);
    assert.deepEqual([...unbounded, ...unboundedIn(ExitRequestSchema as unknown as Schema, 'POST /exits body')], []);
    assert.equal(
      unboundedIn({ type: 'object', additionalProperties: false, properties: { a: { type: 'array' } } }, 'x').length,
      1,
    );
  });

  test('a body with too many values is refused before it is parsed', async () => {
    for (const raw of [
      `{"ad_formats":[${'0,'.repeat(500_000)}0]}`,
      `{"labels":{${'"a":0,'.repeat(150_000)}"a":0}}`,
      `[${'{},'.repeat(5_000)}`,
    ]) {
      const answer = await api.call('POST', '/api/v1/scans', { raw });
      assert.equal(answer.status, 422);
      assert.deepEqual(itemsOf(answer), ['body too_many_values']);
    }
  });

  test('a body just within the limits gets the first of its problems reported', async () => {
    const answer = await api.post('/api/v1/scans', { ...PAGE, ad_formats: Array(4_900).fill(0) });
    assert.equal(answer.status, 422);
    assert.equal(answer.body.detail.length, 101);
    assert.deepEqual(answer.body.detail[0].loc.slice(0, 2), ['body', 'ad_formats']);
  });

  test('the total size of an organization’s unfinished bodies is limited, and other organizations are not delayed', async (t) => {
    const begin = (key: string) => {
      const socket = connect(api.port, '127.0.0.1').on('error', () => {});
      t.after(() => socket.destroy());
      const head = `POST /api/v1/scans HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: 1048576\r\n\r\n{`;
      socket.write(head);
      return socket;
    };
    const begun = Array.from({ length: 32 }, () => begin(KEYS.ours));
    await until('the bodies to be read', async () => (await api.post('/api/v1/scans', PAGE)).status === 429);
    const refused = await api.post('/api/v1/scans', PAGE);
    assert.deepEqual([refused.body.code, refused.headers.get('retry-after')], ['rate_limited', '1']);
    assert.equal((await api.get('/api/v1/scans')).status, 200);
    assert.equal((await api.post('/api/v1/scans', PAGE, { key: KEYS.theirs })).status, 201);
    for (const socket of begun) socket.destroy();
    await until('room for another body', async () => (await api.post('/api/v1/scans', PAGE)).status === 201);
  });

  test('the unfinished forms of the console are limited by their organization, as bodies are', async (t) => {
    const browser = consoleBrowser(api);
    const [ours, theirs] = [await browser.signIn(), await browser.signIn(KEYS.theirs)];
    const head = `POST /console/scans/new HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: same-origin\r\nCookie: ${ours}\r\nContent-Length: 1048576\r\n\r\na`;
    for (let at = 0; at < 32; at++) {
      const socket = connect(api.port, '127.0.0.1').on('error', () => {});
      t.after(() => socket.destroy());
      socket.write(head);
    }
    const send = (cookie: string) => browser.post('/scans/new', { token: 'none' }, cookie);
    await until('the forms to be read', async () => (await send(ours)).status === 429);
    assert.equal((await browser.get('/scans', ours)).status, 200);
    assert.notEqual((await send(theirs)).status, 429);
  });

  test('a form with too many fields is refused before it is parsed', async () => {
    const browser = consoleBrowser(api);
    const cookie = await browser.signIn();
    const answer = await fetch(`http://127.0.0.1:${api.port}/console/scans/new`, {
      ...{ method: 'POST', body: 'a&'.repeat(500_000) },
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), /more than 20000 fields/);
  });

  test('the total size of the unfinished bodies of nodes that are not known is limited by their address', async () => {
    const arriving = new ArrivingBodies();
    const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>();
    const begin = (address: string, megabytes: number) =>
      arriving.share(addressAsOwner(address), megabytes * 1024 * 1024, () => arrival);
    const begun = Array.from({ length: 64 }, () => begin('192.0.2.1', 4));
    await assert.rejects(begin('192.0.2.1', 1), { code: 'rate_limited' });
    begun.push(begin('192.0.2.2', 4));
    arrive();
    await Promise.all(begun);
    await begin('192.0.2.1', 256);
  });

  test('bodies of a node that are refused are counted for a minute, then large ones are read again', async () => {
    let now = 0;
    const arriving = new ArrivingBodies(() => now);
    const [one, other] = [resultsOf('one'), resultsOf('other')];
    const megabytes = (count: number) => count * 1024 * 1024;
    const read = (owner: BodyOwner, bytes: number) => arriving.share(owner, bytes, async () => 'read');
    for (let at = 0; at < 17; at += 1) {
      assert.equal(await read(one, megabytes(4)), 'read');
      arriving.refused(one, megabytes(4));
    }
    now = 20_000;
    await assert.rejects(read(one, megabytes(4)), { code: 'rate_limited', headers: { 'Retry-After': '40' } });
    assert.deepEqual([await read(one, 1_000), await read(other, megabytes(4))], ['read', 'read']);
    now = 60_000;
    assert.equal(await read(one, megabytes(4)), 'read');
  });

  test('a query with thousands of parameters is refused like any other invalid query', async () => {
    const names = Array.from({ length: 3_000 }, (_, at) => `p${at}`);
    const answer = await api.get(`/api/v1/scans?${names.join('&')}`);
    assert.equal(answer.status, 422);
    assert.equal(answer.body.detail.at(-1).type, 'too_many_problems');
  });
});

test('large bodies that arrive together are parsed in turns of their own', async () => {
  const body = Buffer.from(JSON.stringify(Array.from({ length: 250_000 }, (_, at) => `value ${at}`)));
  let [turns, isParsing] = [0, true];
  const count = () => {
    turns += 1;
    if (isParsing) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(Array.from({ length: 8 }, () => parseJson(body, { values: 300_000 })));
  isParsing = false;
  assert.ok(turns >= 8, `they were parsed within ${turns} turns`);
});

describe('the extent of a JSON text', () => {
  const bounds = { values: 1_000, depth: 100 };
  const extent = (text: string) => {
    const { values, depth } = jsonExtent(Buffer.from(text), bounds);
    return { values, depth };
  };

  test('counts values and levels outside of strings', () => {
    assert.deepEqual(extent('5'), { values: 1, depth: 0 });
    assert.deepEqual(extent('[1,[2,3],{"a":4}]'), { values: 7, depth: 2 });
    assert.deepEqual(extent('"[[,,\\"[[,,\\\\"'), { values: 1, depth: 0 });
    assert.deepEqual(extent('{"a\\\\":[1],"b":"\\"","c":"]"}'), { values: 5, depth: 2 });
  });

  test('distinguishes an escaped surrogate from other escape sequences', () => {
    const escapes = (text: string) => jsonExtent(Buffer.from(text), bounds).escapesSurrogates;
    for (const text of ['"\\ud800"', '{"\\uDFFF":1}', '["\\\\\\ud83d\\ude00"]']) assert.ok(escapes(text), text);
    for (const text of ['"\\u00e9"', '"\\\\ud800"', '"ud800"', '"\\n"']) assert.ok(!escapes(text), text);
  });

  test('is never smaller than the parsed value', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Object.values(value).reduce((sum: number, member) => sum + count(member), 0)
        : 1;
    for (const value of [[], {}, [[]], [{}, [1, 'x,y', null]], { a: [true, '{'], 'b,"': { c: '\\' } }])
      assert.ok(extent(JSON.stringify(value)).values >= count(value), JSON.stringify(value));
  });

  test('stops when a bound is exceeded, and at the end of a truncated text', () => {
    assert.equal(extent('['.repeat(5_000)).depth, 101);
    assert.equal(extent('0,'.repeat(5_000)).values, 1_001);
    assert.deepEqual(extent('["unended'), { values: 2, depth: 1 });
    assert.deepEqual(extent('["unended\\'), { values: 2, depth: 1 });
  });
});
