import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { slow } from '../../test/support/slow.ts';
import { AdsweepError } from '../src/client.ts';
import { pauseBeforeRetry } from '../src/send-patiently.ts';
import { answer, closed, hangUp, scriptedServer, silence } from './support/scripted-server.ts';

const SCAN = { url: 'https://shop.example/', country_code: 'US', emulator_id: 'iphone_16' };
const refusal = (detail: string, code: string) => ({ detail, code });
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
/** Answers with the beginning of a body, and collects garbage while the rest is waited for. */
const stopsHalfWay =
  (headers: Record<string, string>, beginning: string) => (response: Parameters<typeof silence>[0]) => {
    response.writeHead(200, headers).write(beginning);
    setTimeout(collectGarbage, 50);
  };
const headersOf = (headers: Record<string, string> = {}) => new Headers(headers);

describe('a client of a server in trouble', { concurrency: true }, () => {
  test('waits as long as a rate limit asks for, then sends the same request with the same Idempotency-Key', async (t) => {
    const limited = answer(429, refusal('Too many requests.', 'rate_limited'), { 'retry-after': '1' });
    const { api, requests } = await scriptedServer(t, [limited, answer(201, { id: 'one' })]);
    const began = performance.now();
    assert.deepEqual(await api.createScan(SCAN), { id: 'one' });
    assert.ok(performance.now() - began >= 990);
    const [first, second, ...more] = requests.map(({ method, url, headers }) => [
      method,
      url,
      headers['idempotency-key'],
    ]);
    assert.deepEqual(first, second);
    assert.match(String(first![2]), /^[0-9a-f]{32}$/);
    assert.equal(more.length, 0);
  });

  test('sends a request again whose connection breaks or whose server fails', slow, async (t) => {
    const turns = [hangUp, answer(503, refusal('Restarting.', 'unavailable')), answer(200, { id: 'one' })];
    const { api, requests } = await scriptedServer(t, turns);
    assert.deepEqual(await api.getScan('one'), { id: 'one' });
    assert.equal(requests.length, 3);
  });

  test('gives up after its retries, with the error of the last one', async (t) => {
    const failing = answer(500, refusal('Internal error.', 'internal_error'));
    const { api, requests } = await scriptedServer(t, [failing], { retries: 1 });
    await assert.rejects(api.getScan('one'), (error) => {
      assert.ok(error instanceof AdsweepError);
      assert.deepEqual([error.status, error.code], [500, 'internal_error']);
      assert.equal(error.message, 'getScan 500 internal_error Internal error.');
      return true;
    });
    assert.equal(requests.length, 2);
  });

  test('rejects with a TimeoutError if a slow server never answers', async (t) => {
    const { api } = await scriptedServer(t, [silence], { retries: 0, timeoutMs: 50 });
    await assert.rejects(api.getScan('one'), { name: 'TimeoutError' });
  });

  test('rejects with a TimeoutError also when a garbage collection comes before the answer', async (t) => {
    const { api } = await scriptedServer(t, [() => void setTimeout(collectGarbage, 50)], {
      retries: 0,
      timeoutMs: 200,
    });
    await assert.rejects(api.getScan('one'), { name: 'TimeoutError' });
  });

  test('gives a body that stops half-way the same timeout', async (t) => {
    const half = (response: Parameters<typeof silence>[0]) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).write('{ "id": ');
    const { api } = await scriptedServer(t, [half, answer(200, { id: 'one' })], { timeoutMs: 100 });
    assert.deepEqual(await api.getScan('one'), { id: 'one' });
  });

  test('ends a body that stops half-way also when a garbage collection has come between', async (t) => {
    const json = { 'content-type': 'application/json' };
    const { api } = await scriptedServer(t, [stopsHalfWay(json, '{ "id": ')], { retries: 0, timeoutMs: 200 });
    await assert.rejects(api.getScan('one'), { name: 'TimeoutError' });
  });

  test('ends a stream of events for a caller who aborts it, also after a garbage collection', async (t) => {
    const state = 'data: {"id":"one","status":"pending"}\n\n';
    const { api, requests } = await scriptedServer(t, [stopsHalfWay({ 'content-type': 'text/event-stream' }, state)]);
    const caller = new AbortController();
    setTimeout(() => caller.abort(new Error('not needed any more')), 200);
    const read = async () => {
      for await (const { status } of api.getScanEvents('one', undefined, { signal: caller.signal }))
        assert.equal(status, 'pending');
    };
    await assert.rejects(read, /not needed any more/);
    await closed(requests[0]!.socket);
  });

  test('stops at once, with the reason of the signal, when the caller aborts', async (t) => {
    const limited = answer(429, refusal('Too many requests.', 'rate_limited'), { 'retry-after': '60' });
    const caller = new AbortController();
    const abortAfter: typeof limited = (response, request) => {
      limited(response, request);
      setImmediate(() => caller.abort(new Error('not needed any more')));
    };
    const { api, requests } = await scriptedServer(t, [abortAfter]);
    const call = api.getScan('one', undefined, { signal: caller.signal });
    await assert.rejects(call, /not needed any more/);
    assert.equal(requests.length, 1);
  });

  test('sends nothing for a caller who has aborted before', async (t) => {
    const { api, requests } = await scriptedServer(t, [answer(201, { id: 'one' })]);
    const signal = AbortSignal.abort(new Error('not needed any more'));
    await assert.rejects(api.createScan(SCAN, { signal }), /not needed any more/);
    assert.equal(requests.length, 0);
  });

  test('does not send a refused request again, and names each refused field', async (t) => {
    const items = [{ loc: ['body', 'country_code'], msg: 'No exit serves XX.', type: 'x', ctx: { given: 'XX' } }];
    const { api, requests } = await scriptedServer(t, [answer(422, { detail: items, code: 'validation_error' })]);
    await assert.rejects(api.createScan(SCAN), (error) => {
      assert.ok(error instanceof AdsweepError);
      assert.deepEqual(error.items, items);
      assert.equal(error.message, 'createScan 422 validation_error body.country_code: No exit serves XX.');
      return true;
    });
    assert.equal(requests.length, 1);
  });

  test('reports an answer that a proxy made, which is no JSON', async (t) => {
    const proxy = (response: Parameters<typeof silence>[0]) => void response.writeHead(404).end('<h1>nginx</h1>');
    const { api } = await scriptedServer(t, [proxy]);
    await assert.rejects(api.getScan('one'), { message: 'getScan 404 Not Found', code: '', status: 404 });
  });
});

test('a request is sent again only where that creates nothing twice', () => {
  const get = { method: 'GET', headers: headersOf() };
  const post = { method: 'POST', headers: headersOf() };
  const keyed = { method: 'POST', headers: headersOf({ 'Idempotency-Key': 'one' }) };
  const lost = { error: new TypeError('fetch failed') };
  const status = (code: number, headers = {}) => ({ status: code, headers: headersOf(headers) });
  for (const outcome of [lost, status(500), status(502), status(503), status(504)]) {
    for (const request of [get, keyed]) assert.notEqual(pauseBeforeRetry(request, outcome, 0), null);
    assert.equal(pauseBeforeRetry(post, outcome, 0), null);
  }
  for (const request of [get, keyed, post]) {
    assert.notEqual(pauseBeforeRetry(request, status(429), 0), null);
    for (const code of [200, 304, 400, 401, 403, 404, 409, 422])
      assert.equal(pauseBeforeRetry(request, status(code), 0), null);
  }
  assert.ok(pauseBeforeRetry(keyed, status(409, { 'Retry-After': '1' }), 0)! >= 1_000);
});

test('pauses grow up to a bound with jitter, and are never shorter than the server asks', () => {
  const get = { method: 'GET', headers: headersOf() };
  const busy = (after?: string) => ({ status: 503, headers: headersOf(after ? { 'Retry-After': after } : {}) });
  for (let tries = 0; tries < 10; tries += 1) {
    const whole = Math.min(500 * 2 ** tries, 8_000);
    const pauseMs = pauseBeforeRetry(get, busy(), tries)!;
    assert.ok(pauseMs >= whole / 2 && pauseMs <= whole, `${pauseMs} of ${whole}`);
  }
  assert.equal(pauseBeforeRetry(get, busy('60'), 0), 60_000);
  const atDate = pauseBeforeRetry(get, busy(new Date(Date.now() + 30_000).toUTCString()), 0)!;
  assert.ok(atDate > 28_000 && atDate <= 30_000, String(atDate));
  assert.equal(pauseBeforeRetry(get, busy('3600'), 0), null);
});
