import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { PERMISSIONS } from '../../src/http/caller.ts';
import { itemsOf, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

const MEGABYTE = 1_048_576;

describe('invalid requests', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const send = (raw: BodyInit, headers = {}) => api.call('POST', '/api/v1/scans', { raw, headers });
  const sendText = (text: string) => send(text);

  test('§7.2.2 malformed JSON gets one json_invalid item at the body', async () => {
    for (const text of ['', '{', 'nonsense', '{"url":}', "{'url': 1}", '\ufeff\ufeff{}', 'NaN']) {
      const answer = await sendText(text);
      assert.equal(answer.status, 422, text);
      assert.deepEqual(itemsOf(answer), ['body json_invalid']);
      assert.equal(answer.body.code, 'validation_error');
    }
  });

  test('a body that is not valid UTF-8 counts as malformed JSON', async () => {
    const answer = await send(Buffer.concat([Buffer.from('{"url":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]));
    assert.deepEqual(itemsOf(answer), ['body json_invalid']);
  });

  test('a body that is not an object gets one error', async () => {
    for (const text of ['[]', '"text"', '5', 'null', 'true']) {
      assert.deepEqual(itemsOf(await sendText(text)), ['body object_type'], text);
    }
  });

  test('a deeply nested body is refused, and the process keeps running', async () => {
    const deep = (depth: number) => `{"labels":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    assert.deepEqual(itemsOf(await sendText(deep(100))), ['body json_invalid']);
    assert.deepEqual(itemsOf(await sendText(deep(400_000))), ['body json_invalid']);
    assert.deepEqual(itemsOf(await sendText('{"a":'.repeat(150_000))), ['body json_invalid']);
    assert.equal((await api.get('/healthz')).status, 200);
  });

  test('keys such as __proto__ are unknown fields and change no prototype', async () => {
    const text = JSON.stringify(PAGE).replace(
      '{',
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,',
    );
    const answer = await sendText(text);
    assert.deepEqual(itemsOf(answer), [
      'body.__proto__ unexpected_field',
      'body.constructor unexpected_field',
      'body.toString unexpected_field',
    ]);
    assert.equal(Reflect.get({}, 'polluted'), undefined);
    const nested = await sendText(
      JSON.stringify(PAGE).replace('{', '{"labels":{"__proto__":"x"},"proxy":{"__proto__":{}},'),
    );
    assert.deepEqual(itemsOf(nested).sort(), [
      'body.labels.__proto__ string_pattern_mismatch',
      'body.proxy.__proto__ unexpected_field',
    ]);
  });

  test('fractions and numbers beyond the safe range are refused as integers', async () => {
    for (const number of ['1e400', '-1e400', '1e30', '9007199254740993', '0.1']) {
      const answer = await sendText(JSON.stringify(PAGE).replace('{', `{"retry_max_attempts":${number},`));
      assert.equal(answer.status, 422, number);
      assert.match(itemsOf(answer).join(), /^body\.retry_max_attempts (int_type|less_than_equal)$/);
    }
  });

  test('lone surrogates in values and keys are refused, with their path', async () => {
    const answer = await sendText('{"url":"https://shop.example/\\ud800","labels":{"\\udfff":"x"}}');
    assert.deepEqual(itemsOf(answer).sort(), ['body.labels.\ufffd string_unicode', 'body.url string_unicode']);
  });

  test('§7.2.3 a body of one megabyte is accepted, one byte more gets 413', async () => {
    const filled = (bytes: number) => {
      const body = JSON.stringify({ ...PAGE, filler: '' });
      return body.replace('"filler":""', `"filler":"${'x'.repeat(bytes - body.length)}"`);
    };
    assert.deepEqual(itemsOf(await sendText(filled(MEGABYTE))), ['body.filler unexpected_field']);
    const answer = await sendText(filled(MEGABYTE + 1));
    assert.equal(answer.status, 413);
    assert.equal(answer.body.code, 'request_too_large');
  });

  test('a body without Content-Length gets 413 as soon as it is too large', async () => {
    const status = await new Promise<number>((resolve, reject) => {
      const sending = httpRequest(
        {
          port: api.port,
          method: 'POST',
          path: '/api/v1/scans',
          headers: { authorization: 'Bearer key-of-our-organization', 'transfer-encoding': 'chunked' },
        },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
          sending.destroy();
        },
      );
      sending.on('error', reject);
      const chunk = 'x'.repeat(65_536);
      const more = (): void => {
        if (!sending.destroyed) sending.write(chunk, () => more());
      };
      more();
    });
    assert.equal(status, 413);
  });

  test('§2.4.3 the number of reported problems is limited, so that a response stays small', async () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 'x']));
    for (const [problems, last] of [
      [150, 'And 53 more problems.'],
      [4_000, 'And more problems.'],
    ] as const) {
      const { status, text, body } = await api.post('/api/v1/scans', keys(problems));
      assert.equal(status, 422);
      assert.ok(text.length < 50_000, `${text.length} characters`);
      assert.deepEqual([body.detail.length, body.detail.at(-1).msg], [101, last]);
    }
  });

  test('§2.4.2 the given value is echoed unchanged, and omitted if it is huge', async () => {
    const given = async (value: unknown) =>
      (await api.post('/api/v1/scans', { ...PAGE, other: value })).body.detail[0].ctx;
    assert.deepEqual(await given({ a: [1, null, 'ü'] }), { given: { a: [1, null, 'ü'] } });
    assert.deepEqual(await given('x'.repeat(100_000)), {});
  });

  test('a compressed body gets 415', async () => {
    const answer = await send('x', { 'content-encoding': 'gzip' });
    assert.equal(answer.status, 415);
  });

  test('§7.2.2 every operation refuses unknown query parameters', async () => {
    assert.deepEqual(itemsOf(await api.get('/api/v1/scans?offset=5')), ['query.offset unexpected_field']);
    assert.deepEqual(itemsOf(await api.get('/api/v1/geos?x=1')), ['query.x unexpected_field']);
    assert.deepEqual(itemsOf(await api.post('/api/v1/scans?wait=true', PAGE)), ['query.wait unexpected_field']);
  });

  test('§2.4.3 problems of query and body are reported together', async () => {
    const answer = await api.post('/api/v1/scans?wait=true', { ...PAGE, country_code: 'XX' });
    assert.deepEqual(itemsOf(answer), ['query.wait unexpected_field', 'body.country_code unsupported_country_code']);
  });

  test('§7.2.1 unknown paths and unsupported methods get errors of the same shape', async () => {
    for (const path of ['/api', '/api/v1/nope', '/api/v1/scans/a/b/c', '/api/v2/scans', '/%E0%A4%A', '//scans'])
      assert.deepEqual([(await api.get(path)).status, (await api.get(path)).body.code], [404, 'not_found'], path);
    const answer = await api.call('DELETE', '/api/v1/scans');
    assert.equal(answer.status, 405);
    assert.equal(answer.body.code, 'method_not_allowed');
    assert.equal(answer.headers.get('allow'), 'HEAD, GET, POST');
    for (const path of ['/api/v1/scans/bulk', '/api/v1/scans/bulk/', '/API/v1/scans/Bulk']) {
      const bulk = await api.get(path);
      assert.deepEqual([bulk.status, bulk.headers.get('allow')], [405, 'POST'], path);
    }
    for (const path of ['/docs', '/docs/api', '/docs/api.js', '/healthz', '/']) {
      const refused = await api.call('DELETE', path);
      assert.deepEqual([refused.status, refused.body.code], [405, 'method_not_allowed'], path);
      assert.equal(refused.headers.get('allow'), 'HEAD, GET', path);
      const options = await api.call('OPTIONS', path);
      assert.deepEqual([options.status, options.headers.get('allow')], [200, 'HEAD, GET'], path);
    }
    assert.equal((await api.call('FOO', '/api/v1/scans').catch(() => ({ status: 400 }))).status, 400);
  });

  test('§7.2.2 a query parameter without a value is refused by every operation that reads: no filter is left out silently', async () => {
    const key = await api.keyThatMay(...PERMISSIONS);
    const accepted: string[] = [];
    for (const { method, path, query } of api.routes.filter((one) => one.path.startsWith('/api/')))
      for (const name of method === 'GET' ? Object.keys(query.properties) : []) {
        const answer = await api.get(`${path.replaceAll(/\{\w+\}/g, 'x')}?${name}=`, { key });
        const items = answer.status === 422 ? itemsOf(answer) : [];
        if (!items.some((item) => [`query.${name}`, `query.${name}.0`].includes(item.split(' ')[0]!)))
          accepted.push(`${path} ${name}`);
      }
    assert.deepEqual(accepted, []);
  });

  test("the client's request id is echoed; an invalid one is replaced", async () => {
    const ask = async (id: string) =>
      (await api.get('/api/v1/emulators', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    assert.equal(await ask('order-17:a'), 'order-17:a');
    assert.match((await ask('two words')) ?? '', /^[0-9a-f-]{36}$/);
    assert.match((await ask('x'.repeat(129))) ?? '', /^[0-9a-f-]{36}$/);
    assert.equal((await api.get('/nope', { headers: { 'x-request-id': 'lost' } })).headers.get('x-request-id'), 'lost');
  });

  test('every response forbids sniffing, framing and caching', async () => {
    for (const path of ['/api/v1/emulators', '/nope', '/healthz']) {
      const { headers } = await api.get(path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('x-frame-options'), 'DENY', path);
      assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'/, path);
      assert.equal(headers.get('cache-control'), 'no-store', path);
    }
  });

  test('an internal error gets a 500 that does not reveal its cause', async () => {
    const mend = api.intercept('scans', 'findOne', () => Promise.reject(new Error('secret cause')));
    const answer = await api.get('/api/v1/scans/x/screenshot');
    mend();
    assert.equal(answer.status, 500);
    assert.deepEqual(answer.body, { detail: 'Something went wrong on our side.', code: 'internal_error' });
  });
});
