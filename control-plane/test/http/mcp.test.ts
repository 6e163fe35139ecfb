import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listen } from '@adsweep/shared/service/listen.ts';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { clientApp, nodeApp } from '../../src/compose/create-app.ts';
import { startLoops } from '../../src/compose/roles.ts';
import { CALLBACK, openBrowser, signInWith } from '../support/oauth-client.ts';
import { NODE_TOKEN, PUBLIC_URL } from '../support/open-plane.ts';
import { KEYS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';
import { workOff } from '../support/work-off.ts';

const CLI = join(import.meta.dirname, '../../../shared/client/bin/adsweep.js');

describe('the MCP server', () => {
  let api: RunningApi;
  const stops: (() => Promise<unknown>)[] = [];
  const clients: Client[] = [];
  before(async () => {
    api = await runningApi({ settings: { trustedProxies: ['127.0.0.1'] } });
    const forNodes = await listen('127.0.0.1', 0, 'ADSWEEP_NODE_API_PORT');
    forNodes.serve(nodeApp({ ...api, readyChecks: [], metricsToken: NODE_TOKEN }).callback());
    const loops = await startLoops(api.domains, ['checks', 'relay', 'refill', 'scheduler']);
    const node = workOff(`http://127.0.0.1:${forNodes.port}`, NODE_TOKEN);
    stops.push(
      node,
      async () => Promise.all(loops.map((loop) => loop.stop())),
      () => forNodes.close(0),
    );
  });
  after(async () => {
    for (const client of clients) await client.close();
    for (const stop of stops) await stop();
    await api.stop();
  });

  const endpoint = (query = '') => new URL(`http://127.0.0.1:${api.port}/mcp${query}`);
  const connect = async (transport: Transport): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    clients.push(client);
    return client;
  };
  const overHttp = (key: string, query = '') =>
    connect(
      new StreamableHTTPClientTransport(endpoint(query), {
        requestInit: { headers: { Authorization: `Bearer ${key}` } },
      }),
    );
  const overStdio = (key: string, ...options: string[]) =>
    connect(
      new StdioClientTransport({
        ...{ command: process.execPath, args: [CLI, 'mcp', ...options] },
        env: { ADSWEEP_URL: `http://127.0.0.1:${api.port}`, ADSWEEP_API_KEY: key, XDG_CONFIG_HOME: '/nonexistent' },
      }),
    );
  const call = async (client: Client, name: string, args: Record<string, unknown> = {}, seen?: Progress[]) =>
    (await client.callTool({ name, arguments: args }, undefined, {
      ...(seen && { onprogress: (progress: Progress) => void seen.push(progress) }),
    })) as CallToolResult;

  const operations = async () => {
    const { body } = await api.get('/api/v1/openapi.json');
    return Object.values<Record<string, { operationId: string }>>(body.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
  };

  for (const [name, open] of Object.entries({ HTTP: overHttp, stdio: overStdio }))
    test(`over ${name}, its tools are the operations; a scan is made and waited for, and its picture is seen`, async () => {
      const client = await open(KEYS.ours);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map((tool) => tool.name),
        await operations(),
      );
      const made = jsonOf(await call(client, 'createScan', PAGE));
      assert.equal(made.status, 'pending');
      const seen: Progress[] = [];
      const ended = await call(client, 'getScan', { id: made.id, wait_seconds: 20 }, seen);
      assert.equal(jsonOf(ended).status, 'completed');
      assert.ok(seen.length > 0 && seen.every((one, at) => at === 0 || one.progress > seen[at - 1]!.progress));
      assert.match(String(seen.at(-1)?.message), /^The scan is /);

      const text = textOf(ended);
      const [, mark] = text.match(/^(untrusted-[0-9a-f]{16})$/m) ?? [];
      assert.equal(text.split(`\n${mark}`).length, 3, 'the mark stands before and after the data, and nowhere else');
      assert.ok(text.includes('\\u202e\\udb40\\udc41 and call'), 'what is invisible is shown');

      const picture = await call(client, 'getScanScreenshot', { id: made.id });
      const image = picture.content.find((one) => one.type === 'image');
      assert.equal(image?.mimeType, 'image/webp');
      assert.equal(Buffer.from(image!.data, 'base64').subarray(8, 12).toString(), 'WEBP');
    });

  test('a run is waited for, with the number of its scans that have ended', slow, async () => {
    const client = await overHttp(KEYS.ours);
    const campaign = await call(client, 'createCampaign', {
      ...{ name: 'Landings', url: PAGE.url, country_codes: ['US'] },
      ...{ emulator_categories: [], emulator_specific_ids: ['windows_chrome', 'iphone_16'] },
    });
    const started = jsonOf(await call(client, 'runCampaign', { campaign_id: jsonOf(campaign).id }));
    const seen: Progress[] = [];
    const run = jsonOf(await call(client, 'getRun', { run_id: started.id, wait_seconds: 30 }, seen));
    assert.deepEqual([run.total, run.completed], [2, 2]);
    assert.match(String(seen[0]?.message), /^[01] of 2 scans have ended\.$/);
  });

  test('a wait that is too short says so, and one that its client gives up ends at once', async () => {
    const client = await overHttp(KEYS.ours);
    const made = jsonOf(await call(client, 'createScan', { ...PAGE, url: 'https://never.example/' }));
    const early = await call(client, 'getScan', { id: made.id, wait_seconds: 0.2 });
    assert.match(textOf(early), /^It has not ended within 0.2 seconds: call again to go on waiting\./);
    const leave = new AbortController();
    const waiting = client.callTool({ name: 'getScanEvents', arguments: { id: made.id } }, undefined, {
      ...{ signal: leave.signal, onprogress: () => leave.abort() },
    });
    await assert.rejects(waiting);
  });

  test('§5.36 more waits than may be open are possible one after the other, each of which its client gives up', async () => {
    const client = await overHttp(KEYS.ours);
    const made = jsonOf(await call(client, 'createScan', { ...PAGE, url: 'https://never.example/' }));
    for (let turn = 0; turn < 34; turn += 1) {
      const leave = new AbortController();
      const waiting = client.callTool({ name: 'getScanEvents', arguments: { id: made.id } }, undefined, {
        ...{ signal: leave.signal, onprogress: () => leave.abort('given up') },
      });
      await assert.rejects(waiting, /given up/);
    }
    assert.equal((await call(client, 'getAccount')).isError, undefined);
  });

  test('§5.36 a client that cancels a request ends none of another client, although both number theirs alike', async () => {
    const client = await overHttp(KEYS.ours);
    const { id } = jsonOf(await call(client, 'createScan', { ...PAGE, url: 'https://never.example/' }));
    const send = (message: object, session?: string, signal?: AbortSignal) =>
      fetch(endpoint(), {
        ...{ method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }), signal: signal ?? null },
        headers: {
          ...{ authorization: `Bearer ${KEYS.ours}`, 'content-type': 'application/json' },
          ...{ accept: 'application/json, text/event-stream', ...(session && { 'mcp-session-id': session }) },
        },
      });
    const about = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const begin = async () =>
      (await send({ id: 0, method: 'initialize', params: about })).headers.get('mcp-session-id');
    const [one, other] = [(await begin())!, (await begin())!];
    assert.notEqual(one, other);
    const leave = new AbortController();
    const waiting = { id: 7, method: 'tools/call', params: { name: 'getScanEvents', arguments: { id } } };
    const [first, second] = await Promise.all([one, other].map((session) => send(waiting, session, leave.signal)));
    const ends: string[] = [];
    for (const [name, answer] of Object.entries({ first, second }))
      void answer!.text().then(
        () => ends.push(name),
        () => ends.push(`${name}, left`),
      );
    assert.equal((await send({ method: 'notifications/cancelled', params: { requestId: 7 } }, one)).status, 202);
    await until('the cancelled call to end', () => ends.length > 0);
    leave.abort();
    await until('both calls to end', () => ends.length > 1);
    assert.deepEqual(ends, ['first', 'second, left']);
  });

  test('§5.36 a call that is repeated with its idempotency_key, such as after its answer was lost, is done once', async () => {
    const args = { ...PAGE, url: 'https://lost.example/', idempotency_key: 'check of lost.example' };
    const [first, other] = [await overHttp(KEYS.ours), await overStdio(KEYS.ours)];
    const { id } = jsonOf(await call(first, 'createScan', args));
    assert.equal(jsonOf(await call(first, 'createScan', args)).id, id);
    assert.equal(jsonOf(await call(other, 'createScan', args)).id, id);
    const changed = jsonOf(await call(first, 'createScan', { ...args, url: 'https://other.example/' }));
    assert.equal(changed.code, 'idempotency.key_reused');
    const { idempotency_key: _, ...unkeyed } = args;
    assert.notEqual(jsonOf(await call(first, 'createScan', unkeyed)).id, id);
    assert.equal((await api.get('/api/v1/scans?url=lost.example')).body.total, 2);
  });

  test('a policy set with more values than other bodies may have is created by its tool', async () => {
    const client = await overHttp(KEYS.ours);
    const country_codes = [
      'US',
      'DE',
      'PT',
      'BR',
      'JP',
      'FR',
      'ES',
      'IT',
      'NL',
      'PL',
      'SE',
      'NO',
      'FI',
      'DK',
      'AT',
      'CH',
    ];
    const entries = Array.from({ length: 400 }, (_, at) => ({
      rule_type: 'brand',
      brand: `Brand ${at}`,
      country_codes,
    }));
    const made = await call(client, 'createPolicySet', { name: 'Brands', entries });
    assert.equal(made.isError, undefined, textOf(made));
    assert.equal(jsonOf(made).name, 'Brands');
    // What was done cannot be had again by a link.
    assert.deepEqual(
      made.content.map(({ type }) => type),
      ['text'],
    );
  });

  test('a key that may only read is refused by the API itself, with the permission that it lacks', async () => {
    const client = await overHttp(await api.keyThatMay('scans.read'));
    const refused = await call(client, 'createScan', PAGE);
    assert.equal(refused.isError, true);
    const { status, code, message } = jsonOf(refused);
    assert.deepEqual([status, code], [403, 'forbidden']);
    assert.match(message, /lacks the permission scans\.write/);
    assert.equal((await call(client, 'listScans')).isError, undefined);
  });

  test('two organizations are apart: nothing of one is found by the other, whoever asked before', async () => {
    const [ours, theirs] = await Promise.all([overHttp(KEYS.ours), overHttp(KEYS.theirs)]);
    const { id } = jsonOf(await call(ours, 'createScan', PAGE));
    assert.equal(jsonOf(await call(theirs, 'getScan', { id })).code, 'not_found');
    assert.equal(jsonOf(await call(ours, 'getScan', { id })).id, id);
  });

  test('wrong arguments are refused in words that name the right ones', async () => {
    const client = await overHttp(KEYS.ours);
    const problem = async (name: string, args: Record<string, unknown>) => {
      const answer = await call(client, name, args);
      assert.equal(answer.isError, true);
      return jsonOf(answer).message as string;
    };
    assert.match(await problem('getScan', {}), /^the argument id is missing/);
    assert.match(await problem('listScans', { nonsense: 1 }), /^no such argument: nonsense; it has .*status/);
    assert.match(await problem('createScan', { ...PAGE, country_code: 'XX' }), /unsupported_country_code/);
    assert.match(await problem('nonsense', {}), /^no such tool: nonsense/);
    assert.match(
      await problem('getRun', { run_id: 'x', wait_seconds: 1e9 }),
      /^wait_seconds is a number from 0 to 600/,
    );
    assert.match(await problem('listScans', { limit: 51 }), /^limit is at most 50/);
    assert.equal(jsonOf(await call(client, 'listScans', { label_team: 'a', limit: 50 })).total, 0);
  });

  test('a client can ask for the tools of some groups, or for those that change nothing', async () => {
    const names = async (client: Client) => (await client.listTools()).tools.map((tool) => tool.name);
    const reading = await names(await overHttp(KEYS.ours, '?group=Scans&group=Artifacts&read_only=true'));
    assert.ok(reading.includes('getScan') && reading.includes('getScanScreenshot'));
    assert.ok(!reading.includes('createScan') && !reading.includes('listAlerts'));
    assert.deepEqual(
      await names(await overStdio(KEYS.ours, '--group', 'Scans', '--group', 'Artifacts', '--read-only')),
      reading,
    );
    await assert.rejects(overHttp(KEYS.ours, '?group=Nonsense'), /no such group: Nonsense/);
    for (const query of ['?read-only=true', '?read_only=1', '?groups=Scans'])
      await assert.rejects(overHttp(KEYS.ours, query), /422|validation_error/, query);
  });

  test('without a credential the answer says where to get one', async () => {
    const answer = await fetch(endpoint(), { method: 'POST', body: '{}' });
    assert.equal(answer.status, 401);
    const [, metadata = ''] = answer.headers.get('www-authenticate')?.match(/resource_metadata="([^"]+)"/) ?? [];
    const { resource } = await (await fetch(metadata.replace(PUBLIC_URL, `http://127.0.0.1:${api.port}`))).json();
    assert.ok(`${PUBLIC_URL}/mcp`.startsWith(resource));
  });

  test('an assistant that knows only the address registers itself, is signed in by its person, and calls tools', async () => {
    const person = openBrowser(api);
    const provider = oauthProvider();
    const options = {
      authProvider: provider,
      // The public URL of the tests is mapped to the port of the API.
      fetch: (url: string | URL, init?: RequestInit) =>
        fetch(String(url).replace(PUBLIC_URL, `http://127.0.0.1:${api.port}`), init),
    };
    const address = new URL('/mcp', PUBLIC_URL);
    const first = new StreamableHTTPClientTransport(address, options);
    await assert.rejects(new Client({ name: 'test', version: '1' }).connect(first), /Unauthorized/);
    const returned = await signInWith(person, provider.asked!.href, await api.keyThatMay('scans.read'));
    await first.finishAuth(new URL(returned).searchParams.get('code')!);
    const client = await connect(new StreamableHTTPClientTransport(address, options));
    assert.equal((await call(client, 'listScans')).isError, undefined);
    assert.equal(jsonOf(await call(client, 'createScan', PAGE)).code, 'forbidden');
  });

  test('other methods, pages of other sites, several messages at once and broken ones are refused', async () => {
    const authorization = `Bearer ${KEYS.ours}`;
    const send = async (init: RequestInit) => {
      const answer = await fetch(endpoint(), { method: 'POST', ...init, headers: { authorization, ...init.headers } });
      return [answer.status, ((await answer.json()) as { code?: string }).code];
    };
    assert.deepEqual(await send({ method: 'GET' }), [405, 'method_not_allowed']);
    assert.deepEqual(await send({ method: 'DELETE' }), [405, 'method_not_allowed']);
    assert.deepEqual(await send({ headers: { origin: 'https://evil.example' }, body: '{}' }), [403, 'forbidden']);
    assert.deepEqual(await send({ body: '[]' }), [400, 'bad_request']);
    assert.deepEqual(await send({ body: '{' }), [422, 'validation_error']);
    assert.deepEqual(await send({ body: 'x'.repeat(2_000_000) }), [413, 'request_too_large']);
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`label_${at}`, 'a']));
    for (const body of [
      `{"params":{"arguments":{${'"a":0,'.repeat(45_000)}"a":0}}}`,
      ...[many, { params: many }, { params: { arguments: many } }].map((one) => JSON.stringify(one)),
    ])
      assert.deepEqual(await send({ body }), [422, 'validation_error']);
  });

  test('an organization has so many calls at once, and another one is not held up; they are free when they end', async () => {
    const client = await overHttp(KEYS.ours);
    const { id } = jsonOf(await call(client, 'createScan', { ...PAGE, url: 'https://never.example/' }));
    const leave = new AbortController();
    let waiting = 0;
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'getScanEvents', arguments: { id } },
    };
    const headers = {
      ...{ authorization: `Bearer ${KEYS.ours}`, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
    };
    const open = Array.from({ length: 32 }, () =>
      fetch(endpoint(), { method: 'POST', headers, body: JSON.stringify(message), signal: leave.signal }).then(
        () => waiting++,
      ),
    );
    await until('the calls to be open', () => waiting === 32);
    await assert.rejects(call(client, 'getAccount'), /429|open calls/);
    assert.equal((await call(await overHttp(KEYS.theirs), 'getAccount')).isError, undefined);
    leave.abort();
    await Promise.allSettled(open);
    await until('room', async () =>
      call(client, 'getAccount').then(
        () => true,
        () => false,
      ),
    );
  });

  test('where it is switched off there is no such path', async () => {
    const other = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
    const surface = { ...api, readyChecks: [], metricsToken: 'token' };
    other.serve(clientApp(surface, { publicUrl: PUBLIC_URL, mcpUrl: null, consoleUrl: null }).callback());
    assert.equal((await fetch(`http://127.0.0.1:${other.port}/mcp`, { method: 'POST' })).status, 404);
    await other.close(0);
  });
});

/** What an assistant keeps of OAuth, in memory. */
function oauthProvider(): OAuthClientProvider & { asked?: URL } {
  const kept: { information?: OAuthClientInformationFull; tokens?: OAuthTokens; verifier?: string } = {};
  return {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: 'Assistant', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.information,
    saveClientInformation: (made) => void Object.assign(kept, { information: made }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    codeVerifier: () => kept.verifier!,
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    redirectToAuthorization(url) {
      this.asked = url;
    },
  };
}

function textOf({ content }: CallToolResult): string {
  const [first] = content;
  assert.equal(first?.type, 'text');
  return (first as { text: string }).text;
}

/** The JSON between the marks of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: answers of any operation
const jsonOf = (answer: CallToolResult): any => JSON.parse(textOf(answer).split(/^untrusted-[0-9a-f]+$/m)[1]!);
