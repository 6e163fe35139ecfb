import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createLogger, type Logger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { Type } from 'typebox';
import { until } from '../../../shared/test/support/until.ts';
import { createApp } from '../../src/compose/create-app.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { noContent, ok, route } from '../../src/http/route.ts';

const QUIET = {
  ...{ readyChecks: [], registry: new Registry(), metricsToken: 'token', seen: () => {}, docs: false },
  logger: createLogger('test', 'silent'),
};

/** An app that sends without end, and the level of each line that says that an answer was not sent. */
function endlessApp(answer: () => Readable) {
  const unsent = Promise.withResolvers<string>();
  const at = (level: string) => (_: object, text: string) => {
    if (text === 'a response could not be sent') unsent.resolve(level);
  };
  const logger = { child: () => logger, debug: at('debug'), info: at('info'), error: at('error') } as unknown as Logger;
  const app = createApp({
    ...{ ...QUIET, logger },
    routes: [],
    admit: () => Promise.reject(new Error('there are no routes')),
  });
  app.use((context) => {
    context.body = answer();
  });
  return { server: createServer(app.callback()).listen(0), unsent: unsent.promise };
}

const endless = () =>
  new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
  });

function requestOf(server: ReturnType<typeof createServer>) {
  const client = connect((server.address() as AddressInfo).port).on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return client;
}

test('a client that disconnects during its response is logged at debug level', async (t) => {
  const { server, unsent } = endlessApp(endless);
  t.after(() => server.close());
  const client = requestOf(server);
  await once(client, 'data');
  client.resetAndDestroy();
  assert.equal(await unsent, 'debug');
});

test('a response that fails in the service is logged as an error', async (t) => {
  const broken = endless();
  const { server, unsent } = endlessApp(() => broken);
  t.after(() => server.close());
  const client = requestOf(server);
  await once(client, 'data');
  broken.destroy(new Error('the disk is gone'));
  assert.equal(await unsent, 'error');
  client.destroy();
});

test('a handler is told which of its answers were not sent: those cut off, and those replaced by a refusal', async (t) => {
  const told: string[] = [];
  const app = createApp({
    ...QUIET,
    before: [
      async ({ path }, next) => {
        await next();
        if (path === '/refused') throw new ApiError('unavailable', 'Too many large responses are being read.');
      },
    ],
    routes: [
      route({
        ...{ method: 'GET', path: '/{how}', group: 'Answers', summary: 'Answer', permission: 'none', replies: {} },
        params: Type.Object({ how: Type.String() }),
        handle: ({ params: { how } }) => {
          const text = 'x'.repeat(how === 'cut' ? 16_000_000 : 1);
          return { ...ok({ text }), unsent: () => void told.push(how) };
        },
      }),
    ],
    admit: () => Promise.reject(new Error('there are no callers')),
  });
  const server = createServer(app.callback()).listen(0);
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const statusOf = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    await answer.text();
    return answer.status;
  };
  assert.deepEqual([await statusOf('/sent'), await statusOf('/refused')], [200, 503]);
  const client = connect(port).on('error', () => {});
  client.write('GET /cut HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(client, 'data');
  client.destroy();
  await until('the answer to be cut off', () => told.includes('cut'));
  assert.deepEqual(told, ['refused', 'cut']);
});

test('bodies of clients that left before these were to be read leave room for others', async (t) => {
  const MEGABYTE = 1024 * 1024;
  const { promise: found, resolve: find } = Promise.withResolvers<void>();
  let [asked, left] = [0, 0];
  const app = createApp({
    ...QUIET,
    routes: [
      route({
        ...{ method: 'POST', path: '/bodies', group: 'Bodies', summary: 'Take a body', permission: 'any' },
        ...{ body: Type.Object({}), replies: {}, handle: () => noContent() },
      }),
    ],
    admit: async () => {
      asked += 1;
      await found;
      return { organizationId: 'ours' };
    },
  });
  const server = createServer(app.callback()).listen(0);
  server.on('request', (_, response) => response.once('close', () => (left += 1)));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: 32 }, () => {
    const client = connect(port).on('error', () => {});
    client.write(`POST /bodies HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${MEGABYTE}\r\n\r\n{`);
    return client;
  });
  await until('the requests', () => asked === clients.length);
  for (const client of clients) client.resetAndDestroy();
  await until('their ends', () => left === clients.length);
  find();
  const send = () => fetch(`http://127.0.0.1:${port}/bodies`, { method: 'POST', body: '{}' });
  await until('room', async () => (await send()).status === 204);
});
