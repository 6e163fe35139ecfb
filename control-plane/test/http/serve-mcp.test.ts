import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import Koa from 'koa';
import { until } from '../../../shared/test/support/until.ts';
import type { Caller } from '../../src/http/caller.ts';
import { requestLifecycle } from '../../src/http/request-lifecycle.ts';
import { serveMcp } from '../../src/http/serve-mcp.ts';
import { API_BODY } from '../../src/http/serve-routes.ts';
import { openBroadcast } from '../../src/platform/broadcast.ts';
import { PUBLIC_URL } from '../support/open-plane.ts';
import { KEYS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const NO_BROADCAST = { send: () => {}, listen: async () => ({ stop: () => {} }) };

/** `/mcp` over the API at this address, for callers of one organization. */
function served(
  t: TestContext,
  apiUrl: string,
  { closing = new AbortController().signal, broadcast = NO_BROADCAST }: Partial<Parameters<typeof serveMcp>[0]> = {},
) {
  const parts = { apiUrl, publicUrl: PUBLIC_URL, bodyBounds: API_BODY, closing, broadcast };
  const admit = async () => ({ organizationId: 'ours' }) as Caller;
  const app = new Koa().use(requestLifecycle(createLogger('test', 'silent'), () => {}));
  const server = app.use(serveMcp({ ...parts, admit, counted: (key) => key })).listen(0);
  t.after(() => server.close().closeAllConnections());
  return { server, url: `${addressOf(server)}/mcp` };
}

async function connected(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { Authorization: `Bearer ${KEYS.ours}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  t.after(() => client.close());
  return client;
}

describe('/mcp over an API', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  test('reads no file that is too large to be shown', async (t) => {
    const { body: document } = await api.get('/api/v1/openapi.json');
    let [sent, isOver] = [0, false];
    const other = createServer((request, response) => {
      if (request.url === '/api/v1/openapi.json')
        return void response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 32 * 1024 * 1024 });
      response.on('close', () => (isOver = true));
      const write = () => {
        for (let hasRoom = true; sent < 32 && hasRoom; sent += 1) hasRoom = response.write(Buffer.alloc(1024 * 1024));
        if (sent < 32) response.once('drain', write);
        else response.end();
      };
      write();
    }).listen(0);
    t.after(() => other.close().closeAllConnections());
    const client = await connected(t, served(t, addressOf(other)).url);
    const { content } = await client.callTool({ name: 'getScanCreativeVideo', arguments: { id: 'one' } });
    assert.deepEqual(content, [
      { type: 'text', text: 'video/mp4, 33554432 bytes' },
      {
        ...{ type: 'resource_link', uri: `${PUBLIC_URL}/api/v1/scans/one/creative-video`, name: 'The whole answer' },
        description: 'Parts were left out. This URL answers all of it to the same credential.',
      },
    ]);
    await until('the connection to end', () => isOver);
    assert.ok(sent < 32, `${sent} MB were sent`);
  });

  test('frees the calls of clients that left before their answers began', async (t) => {
    const { promise: read, resolve: readOn } = Promise.withResolvers<void>();
    let asked = 0;
    const slowApi = createServer(async (_, response) => {
      asked += 1;
      await read;
      response.setHeader('content-type', 'application/json').end('{"paths":{}}');
    }).listen(0);
    t.after(() => slowApi.close().closeAllConnections());
    const { server, url } = served(t, addressOf(slowApi));
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const send = (signal: AbortSignal | null = null) =>
      fetch(url, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', signal });
    const leave = new AbortController();
    const left = Array.from({ length: 32 }, () => send(leave.signal).catch(() => 'left'));
    await until('the calls to wait', async () => asked > 0 && (await connectionsOf(server)) === 32);
    leave.abort();
    await Promise.all(left);
    await until('their connections to end', async () => (await connectionsOf(server)) === 0);
    readOn();
    await until('room', async () => (await send()).status === 200);
  });

  test('ends a wait with an answer when the process begins to stop', async (t) => {
    const closing = new AbortController();
    const { id } = (await api.post('/api/v1/scans', PAGE)).body;
    const client = await connected(t, served(t, `http://127.0.0.1:${api.port}`, { closing: closing.signal }).url);
    const { isError, content } = await client.callTool(
      { name: 'getScan', arguments: { id, wait_seconds: 60 } },
      undefined,
      { onprogress: () => closing.abort() },
    );
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /The service restarts: call again to go on waiting\./);
  });

  test('ends a call whose client cancels it at another replica', async (t) => {
    const { id } = (await api.post('/api/v1/scans', PAGE)).body;
    const urls = [1, 2].map(() => {
      const broadcast = openBroadcast(api.platform.redis);
      t.after(() => broadcast.stop());
      return served(t, `http://127.0.0.1:${api.port}`, { broadcast }).url;
    });
    const [one, other] = urls as [string, string];
    const headers = {
      ...{ authorization: `Bearer ${KEYS.ours}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-session-id': 'session-of-the-client' },
    };
    const send = (url: string, message: object) =>
      fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
    const call = { id: 7, method: 'tools/call', params: { name: 'getScanEvents', arguments: { id } } };
    const answer = await send(one, call);
    let isOver = false;
    void answer.text().finally(() => (isOver = true));
    // A message that comes before the subscription has been made is lost.
    await until('the call to end', async () => {
      assert.equal((await send(other, { method: 'notifications/cancelled', params: { requestId: 7 } })).status, 202);
      return isOver;
    });
  });
});

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
