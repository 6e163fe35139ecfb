import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import Koa, { type Middleware } from 'koa';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { requestLifecycle } from '../../src/http/request-lifecycle.ts';
import { boundUnsent, type UnsentLimits } from '../../src/http/unsent-answers.ts';

const MEGABYTE = 1024 * 1024;
/** More than the kernel takes for a client that does not read. */
const LARGE = { text: 'x'.repeat(16 * MEGABYTE) };
const LIMITS: UnsentLimits = {
  smallBytes: 64 * 1024,
  ownerBytes: 40 * MEGABYTE,
  allBytes: 60 * MEGABYTE,
  waitMs: 60_000,
  bytesPerMs: 1_000,
};

/** An app that answers with 16 MB to the organization that the path names, and with a few bytes at `/small`. */
async function appWith(t: TestContext, changes: Partial<UnsentLimits> = {}, before: Middleware = () => {}) {
  const app = new Koa();
  app.use(requestLifecycle(createLogger('test', 'silent'), () => {}));
  app.use(boundUnsent({ ...LIMITS, ...changes }));
  app.use(async (context, next) => {
    await before(context, next);
    context.state.organizationId = context.path;
    context.body = context.path === '/small' ? { text: 'x' } : LARGE;
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** Requests the path and reads only the status; the connection stays open. */
    async requestWithoutReading(path: string): Promise<number> {
      const client = connect(port, '127.0.0.1').on('error', () => {});
      client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      const [head] = (await once(client, 'data')) as [Buffer];
      client.pause();
      return Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString('latin1'))![1]);
    },
    async read(path: string): Promise<number> {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      await answer.arrayBuffer();
      return answer.status;
    },
  };
}

test(
  'the total size of unread large responses is bounded for an organization, and for all of them',
  slow,
  async (t) => {
    const { requestWithoutReading, read } = await appWith(t);
    assert.equal(await requestWithoutReading('/one'), 200);
    assert.equal(await requestWithoutReading('/one'), 200);
    assert.equal(await requestWithoutReading('/one'), 429);
    assert.equal(await read('/other'), 200);
    assert.equal(await requestWithoutReading('/other'), 200);
    assert.equal(await requestWithoutReading('/third'), 503);
    assert.equal(await read('/small'), 200);
  },
);

test('a client that does not read a large response is disconnected after its time, and then no longer counts', async (t) => {
  const { requestWithoutReading } = await appWith(t, {
    ...{ ownerBytes: 20 * MEGABYTE, waitMs: 1, bytesPerMs: MEGABYTE },
  });
  assert.equal(await requestWithoutReading('/one'), 200);
  await until('the response is given up', async () => (await requestWithoutReading('/one')) === 200);
});

test('one response may be larger than the bound', async (t) => {
  const { read } = await appWith(t, { ownerBytes: MEGABYTE, allBytes: MEGABYTE });
  assert.equal(await read('/one'), 200);
});

test('responses whose clients left before they were ready do not count', async (t) => {
  let [begun, left] = [0, 0];
  const { promise: ready, resolve: go } = Promise.withResolvers<void>();
  const { read, port } = await appWith(t, {}, async (context) => {
    if (!context.path.startsWith('/left')) return;
    begun += 1;
    context.res.once('close', () => (left += 1));
    await ready;
  });
  const clients = Array.from({ length: 4 }, (_, at) => {
    const client = connect(port, '127.0.0.1').on('error', () => {});
    client.write(`GET /left${at} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    return client;
  });
  await until('the requests', () => begun === clients.length);
  for (const client of clients) client.destroy();
  await until('their ends', () => left === clients.length);
  go();
  await until('a response for others', async () => (await read('/other')) === 200);
});
