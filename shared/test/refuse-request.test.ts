import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type Listening, listen } from '../src/service/listen.ts';
import { HEADER_BYTES_MAX, URL_LENGTH_MAX } from '../src/service/refuse-request.ts';

let server: Listening;
before(async () => {
  server = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
  server.serve((_, response) => response.end('served'));
});
after(() => server.close(0));

/** Sends `request` as it is and reads until the connection ends; rejects where it is broken off. */
async function answerTo(request: string): Promise<{ status: number; body: string }> {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  socket.write(request);
  const answer = await text(socket);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body };
}

const get = (path: string, headers = '') =>
  answerTo(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`);

test('a URL and headers up to their bounds are served', async () => {
  assert.equal((await get(`/${'a'.repeat(URL_LENGTH_MAX - 1)}`)).body, 'served');
  assert.equal((await get(`/?q=${'a'.repeat(17_000)}`)).body, 'served');
  assert.equal((await get('/', `X-Long: ${'a'.repeat(HEADER_BYTES_MAX - 200)}\r\n`)).body, 'served');
});

test('a URL that is too long gets 414 with a body, however long it is', async () => {
  for (const length of [URL_LENGTH_MAX, HEADER_BYTES_MAX * 2, 5_000_000]) {
    const { status, body } = await get(`/?q=${'a'.repeat(length)}`);
    assert.equal(status, 414, `${length}`);
    assert.equal((JSON.parse(body) as { code: string }).code, 'url_too_long');
  }
});

test('headers that are too large get 431 with a body, however large they are', async () => {
  for (const length of [HEADER_BYTES_MAX, 5_000_000]) {
    const { status, body } = await get('/', `X-Long: ${'a'.repeat(length)}\r\n`);
    assert.equal(status, 431, `${length}`);
    assert.equal((JSON.parse(body) as { code: string }).code, 'headers_too_large');
  }
  assert.equal((await get('/', `${'X-A: b\r\n'.repeat(20_000)}`)).status, 431);
});

test('what is no request gets 400 with a body', async () => {
  const { status, body } = await answerTo('nonsense\r\n\r\n');
  assert.equal(status, 400);
  assert.equal((JSON.parse(body) as { code: string }).code, 'bad_request');
});

test('a request without a host gets 400 with a body (RFC 9112 3.2)', async () => {
  const { status, body } = await answerTo('GET / HTTP/1.1\r\nConnection: close\r\n\r\n');
  assert.deepEqual([status, (JSON.parse(body) as { code: string }).code], [400, 'bad_request']);
  assert.equal((await answerTo('GET / HTTP/1.0\r\n\r\n')).body, 'served');
});

test('a tunnel is refused with 405 and a body', async () => {
  const { status, body } = await answerTo('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n');
  assert.deepEqual([status, (JSON.parse(body) as { code: string }).code], [405, 'method_not_allowed']);
});

test('an expectation that nobody knows is ignored (RFC 9110 10.1.1)', async () => {
  assert.equal((await get('/', 'Expect: the-unexpected\r\n')).body, 'served');
});
