import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { createApp } from '../../src/compose/create-app.ts';

/** An app that sends without end, and the level of each line that says that an answer was not sent. */
function endlessApp(answer: () => Readable) {
  const unsent = Promise.withResolvers<string>();
  const at = (level: string) => (_: object, text: string) => {
    if (text === 'a response could not be sent') unsent.resolve(level);
  };
  const logger = { child: () => logger, debug: at('debug'), info: at('info'), error: at('error') } as unknown as Logger;
  const app = createApp({
    routes: [],
    admit: () => Promise.reject(new Error('there are no routes')),
    readyChecks: [],
    registry: new Registry(),
    metricsToken: 'token',
    logger,
    seen: () => {},
    docs: false,
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
