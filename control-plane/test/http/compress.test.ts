import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { Type } from 'typebox';
import { createApp } from '../../src/compose/create-app.ts';
import { conditional } from '../../src/http/conditional-get.ts';
import { type Answer, created, type Incoming, ok, route } from '../../src/http/route.ts';

const LIST = { items: Array.from({ length: 200 }, (_, id) => ({ id, name: `scan ${id}` })) };
const PAGE = '<p>a report</p>'.repeat(500);
const ETAG = '"version-1"';

describe('compression of responses', () => {
  const app = createApp({
    routes: [
      operation('/list', () => ok(LIST)),
      operation('/small', () => ok({ id: 1 })),
      operation('/report', ({ headers }) => conditional(headers, ETAG, { status: 200, body: PAGE, type: 'text/html' })),
      operation('/picture', () => ({ status: 200, body: Buffer.alloc(5_000), type: 'image/webp' })),
      operation('/stream', () => ({ status: 200, body: Readable.from([PAGE]), type: 'text/html' })),
      operation('/cookie', () => ok(LIST, { 'Set-Cookie': 'session=secret' })),
      operation('/keys', () => created({ ...LIST, key: 'a new key' }), 'POST'),
    ],
    admit: () => Promise.resolve(null),
    readyChecks: [],
    registry: new Registry(),
    metricsToken: '',
    logger: createLogger('test', 'silent'),
    seen: () => {},
    docs: true,
  });
  let port = 0;
  let server: Server | undefined;
  before(async () => {
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => server?.close());

  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request({ port, path, headers, method, host: '127.0.0.1' }, resolve).on('error', reject).end();
    const response = await promise;
    return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
  };
  const BROTLI = { 'accept-encoding': 'gzip, deflate, br' };

  it('uses an encoding that the client accepts, and the length of the compressed body', async () => {
    const [plain, gzip, brotli] = await Promise.all([
      ask('/list'),
      ask('/list', { 'accept-encoding': 'gzip' }),
      ask('/list', BROTLI),
    ]);
    assert.deepEqual(JSON.parse(String(plain.bytes)), LIST);
    assert.deepEqual(JSON.parse(String(gunzipSync(gzip.bytes))), LIST);
    assert.deepEqual(JSON.parse(String(brotliDecompressSync(brotli.bytes))), LIST);
    assert.deepEqual(
      [plain, gzip, brotli].map(({ headers }) => [headers['content-encoding'], headers.vary, headers['content-type']]),
      [undefined, 'gzip', 'br'].map((encoding) => [encoding, 'Accept-Encoding', 'application/json; charset=utf-8']),
    );
    assert.equal(Number(gzip.headers['content-length']), gzip.bytes.length);
    assert.ok(brotli.bytes.length < plain.bytes.length / 4);
  });

  it('does not use an encoding that the client refuses', async () => {
    assert.equal(
      (await ask('/list', { 'accept-encoding': 'br;q=0, gzip;q=0' })).headers['content-encoding'],
      undefined,
    );
    assert.equal((await ask('/list', { 'accept-encoding': 'br;q=0, gzip' })).headers['content-encoding'], 'gzip');
  });

  it('weakens the ETag of a compressed response; a conditional request with either ETag gets 304', async () => {
    const plain = await ask('/report');
    const brotli = await ask('/report', BROTLI);
    assert.deepEqual([plain.headers.etag, brotli.headers.etag], [ETAG, `W/${ETAG}`]);
    for (const tag of [ETAG, `W/${ETAG}`]) {
      const again = await ask('/report', { ...BROTLI, 'if-none-match': tag });
      assert.deepEqual([again.status, again.headers.etag, again.bytes.length], [304, tag, 0]);
      assert.equal(again.headers.vary, 'Accept-Encoding');
    }
  });

  it('does not compress small bodies, images, streams and responses that set a cookie', async () => {
    for (const path of ['/small', '/picture', '/stream', '/cookie'])
      assert.equal((await ask(path, BROTLI)).headers['content-encoding'], undefined, path);
  });

  it('does not compress responses to POST, whose length could reveal a new key', async () => {
    const { status, headers, bytes } = await ask('/keys', BROTLI, 'POST');
    assert.deepEqual([status, headers['content-encoding']], [201, undefined]);
    assert.equal(JSON.parse(String(bytes)).key, 'a new key');
  });

  it('answers HEAD with the headers of GET', async () => {
    const [head, whole] = await Promise.all([ask('/report', BROTLI, 'HEAD'), ask('/report', BROTLI)]);
    const told = ({ headers }: typeof head) => [headers['content-encoding'], headers['content-length'], headers.etag];
    assert.deepEqual(told(head), told(whole));
    assert.equal(head.bytes.length, 0);
  });

  it('serves the files of the reference page compressed, with the same bytes each time', async () => {
    const [first, second] = [await ask('/docs/swagger-ui.css', BROTLI), await ask('/docs/swagger-ui.css', BROTLI)];
    assert.equal(first.headers['content-encoding'], 'br');
    assert.ok(first.bytes.equals(second.bytes));
    assert.match(String(brotliDecompressSync(first.bytes)), /swagger-ui/);
  });
});

function operation(path: string, handle: (request: Incoming<null>) => Answer, method: 'GET' | 'POST' = 'GET') {
  const replies = { 200: { description: 'Done.', schema: Type.Unknown() } };
  return route<null>({ method, path, group: 'Test', summary: path, permission: 'none', replies, handle });
}
