import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { Server } from 'node:net';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { openTlsClient, type TlsClientFiles } from '@adsweep/shared/service/tls-client.ts';
import { followTlsFiles, type TlsPair } from '@adsweep/shared/service/tls-files.ts';
import { freePort } from '../../shared/test/support/free-port.ts';
import { until } from '../../shared/test/support/until.ts';
import { readConfig } from '../src/config.ts';
import { openTunnel, requestOver, request as requestThrough } from './support/proxy-client.ts';
import { apiClient, logger, startTestRouter, temporaryFolder } from './support/router.ts';
import { startTarget } from './support/target.ts';

const PAIR = join(import.meta.dirname, '../../infra/demo/test-certificate');

/** A certificate for `localhost` and its key, as files that the test may change. */
function tlsFiles() {
  const folder = temporaryFolder();
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  copyFileSync(join(PAIR, 'certificate.pem'), certificate);
  copyFileSync(join(PAIR, 'private-key.pem'), key);
  return { certificate, key };
}

const statusOver = (url: string, ca: string[]): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(url, { ca, agent: false }, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end();
  });

it('the API serves https with a certificate, to clients that trust it', async (t) => {
  const { certificate, key } = tlsFiles();
  const config = { ADSWEEP_PROXY_TLS_CERTIFICATE: certificate, ADSWEEP_PROXY_TLS_KEY: key };
  const { ports } = await startTestRouter(t, { config });
  const url = `https://localhost:${ports.api}/healthz`;
  assert.equal(await statusOver(url, [readFileSync(certificate, 'utf8')]), 200);
  await assert.rejects(statusOver(url, []), /self-signed certificate/);
  await assert.rejects(fetch(`http://127.0.0.1:${ports.api}/healthz`));
});

it('a certificate that does not fit its key ends the start with a sentence; one without a key is a wrong setting', async (t) => {
  const { certificate, key } = tlsFiles();
  writeFileSync(key, 'no key');
  const config = { ADSWEEP_PROXY_TLS_CERTIFICATE: certificate, ADSWEEP_PROXY_TLS_KEY: key };
  await assert.rejects(startTestRouter(t, { config }), (error: Error) => {
    assert.ok(error instanceof OperatorError);
    return error.message.startsWith(`the certificate ${certificate} with the key ${key}: `);
  });
  const env = { ADSWEEP_NODE_TOKEN: 'n'.repeat(16), ADSWEEP_TICKET_SECRET: 't'.repeat(16) };
  assert.throws(() => readConfig({ ...env, ADSWEEP_PROXY_TLS_CERTIFICATE: certificate }), ConfigError);
});

it('a changed certificate is used from then on, and a wrong one never', async (t) => {
  const files = tlsFiles();
  const used: TlsPair[] = [];
  const refused: unknown[] = [];
  const noting = { error: (about: unknown) => refused.push(about), info: () => {} } as unknown as Logger;
  t.after(followTlsFiles(files, (pair) => used.push(pair), noting, 5));
  assert.equal(used.length, 1);
  const renewed = `${readFileSync(files.certificate, 'utf8')}\n`;
  writeFileSync(files.certificate, 'half a certificate');
  await until('the wrong certificate to be read', () => refused.length > 0);
  writeFileSync(files.certificate, renewed);
  await until('the new certificate to be used', () => used.length > 1);
  assert.equal(used[1]?.cert, renewed);
});

/** What the browser of a node is answered in place of a gateway that it cannot reach. */
const FAILURE = 'HTTP/1.1 599 Gateway\r\nadsweep-gateway-outcome: upstream_failed\r\nconnection: close\r\n\r\n';
const NO_FILES: TlsClientFiles = { ca: '', certificate: '', key: '' };

/** A client with these files, closed with the test. */
function tlsClient(t: TestContext, files: Partial<TlsClientFiles>, readEveryMs?: number) {
  const client = openTlsClient({ ...NO_FILES, ...files }, FAILURE, logger, readEveryMs);
  t.after(() => client.close());
  return client;
}

/** A router whose API and gateway have a certificate and want one of their clients. */
async function startSecureRouter(
  t: TestContext,
  more: Parameters<typeof startTestRouter>[1] & { isReplica?: boolean } = {},
) {
  const { certificate, key } = tlsFiles();
  const [api, gateway] = [await freePort(), await freePort()];
  const config = {
    ADSWEEP_PROXY_PORT: api,
    ADSWEEP_GATEWAY_PORT: gateway,
    ADSWEEP_PROXY_TLS_CERTIFICATE: certificate,
    ADSWEEP_PROXY_TLS_KEY: key,
    ADSWEEP_PROXY_TLS_CLIENT_CA: certificate,
    ADSWEEP_GATEWAY_TLS: 'on',
    ADSWEEP_GATEWAY_URL: `https://localhost:${gateway}`,
    ADSWEEP_REPLICA_URL: more.isReplica ? `https://localhost:${api}` : '',
    ADSWEEP_TLS_CA: certificate,
    ADSWEEP_TLS_CLIENT_CERTIFICATE: certificate,
    ADSWEEP_TLS_CLIENT_KEY: key,
  };
  const router = await startTestRouter(t, { ...more, config });
  const files = { ca: certificate, certificate, key };
  return { router, files, api: `https://localhost:${api}`, gateway: `https://localhost:${gateway}` };
}

it('with an authority of clients, the API and the gateway serve those with its certificate alone', async (t) => {
  const target = await startTarget(t);
  const { files, api, gateway } = await startSecureRouter(t, { hosts: { 'shop.example': target.address } });
  const node = tlsClient(t, files);
  const ticket = await apiClient(await node.reach(api)).ticket();
  assert.equal(ticket.server, gateway);
  const through = { ...ticket, server: await node.reach(ticket.server, true) };
  assert.equal((await requestThrough(through, 'http://shop.example/page')).body, 'a page');
  const { socket } = await openTunnel(through, 'shop.example:443');
  assert.match(await requestOver(socket, 'shop.example'), /a page$/);

  const strangers = {
    'no certificate': { ca: files.ca },
    'no trust': { certificate: files.certificate, key: files.key },
  };
  for (const [name, own] of Object.entries(strangers)) {
    const stranger = tlsClient(t, own);
    await assert.rejects(fetch(`${await stranger.reach(api)}/healthz`), name);
    const refused = await requestThrough(
      { ...ticket, server: await stranger.reach(gateway, true) },
      'http://shop.example/page',
    ).catch(() => null);
    // The server of TLS 1.3 refuses a client after the handshake: it sees a connection that ends.
    assert.ok(refused === null || refused.headers['adsweep-gateway-outcome'] === 'upstream_failed', name);
  }
});

it('replicas reach each other over TLS', async (t) => {
  const target = await startTarget(t);
  const hosts = { 'shop.example': target.address };
  const [keeper, other] = [
    await startSecureRouter(t, { hosts, isReplica: true }),
    await startSecureRouter(t, { hosts, isReplica: true }),
  ];
  const node = tlsClient(t, keeper.files);
  const ticket = await apiClient(await node.reach(keeper.api)).ticket();
  const through = { ...ticket, server: await node.reach(other.gateway, true) };
  assert.equal((await requestThrough(through, 'http://shop.example/page')).body, 'a page');
  const traffic = await apiClient(await node.reach(other.api)).traffic(ticket);
  assert.equal(traffic.requests.length, 1);
});

it('a client uses its renewed files, and keeps the last good ones', async (t) => {
  const { files, api } = await startSecureRouter(t);
  const own = tlsFiles();
  const good = readFileSync(own.certificate, 'utf8');
  const url = await tlsClient(t, { ca: own.certificate, certificate: files.certificate, key: files.key }, 0).reach(api);
  const answered = async () => (await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).status;
  assert.equal(await answered(), 200);
  writeFileSync(own.certificate, '-----BEGIN CERTIFICATE-----\nhalf');
  assert.equal(await answered(), 200);
  writeFileSync(own.certificate, `${good}\n`);
  assert.equal(await answered(), 200);
  assert.throws(
    () => openTlsClient({ ...NO_FILES, ca: join(own.certificate, 'none') }, FAILURE, logger),
    OperatorError,
  );
});

it('plain http needs no tunnel, nor does https without files of our own, except for a browser', async (t) => {
  const client = tlsClient(t, {});
  assert.equal(await client.reach('http://router:8082'), 'http://router:8082');
  assert.equal(await client.reach('https://router:8082'), 'https://router:8082');
  assert.match(await client.reach('https://router:8083', true), /^http:\/\/127\.0\.0\.1:\d+$/);
});

it('a tunnel that could not be opened, as without a free file descriptor, is opened for the next caller', async (t) => {
  const client = tlsClient(t, {});
  const fail = function (this: Server) {
    process.nextTick(() => this.emit('error', new Error('listen EMFILE')));
    return this;
  };
  t.mock.method(Server.prototype, 'listen', fail as never, { times: 1 });
  await assert.rejects(client.reach('https://router:8083', true), /EMFILE/);
  assert.match(await client.reach('https://router:8083', true), /^http:/);
});

it('a tunnel that cannot be opened while its client closes leaves no unhandled rejection', async (t) => {
  const client = openTlsClient(NO_FILES, FAILURE, logger);
  const opened = Promise.withResolvers<void>();
  const fail = function (this: Server) {
    opened.promise.then(() => this.emit('error', new Error('listen EMFILE')));
    return this;
  };
  t.mock.method(Server.prototype, 'listen', fail as never, { times: 1 });
  const reached = assert.rejects(client.reach('https://router:8083', true), /EMFILE/);
  client.close();
  opened.resolve();
  await reached;
  // A rejection that nothing handles would be reported by now.
  await setImmediate();
});

it('TLS of the gateway without a certificate or an address is a wrong setting', () => {
  const env = { ADSWEEP_NODE_TOKEN: 'n'.repeat(16), ADSWEEP_TICKET_SECRET: 't'.repeat(16), ADSWEEP_GATEWAY_TLS: 'on' };
  assert.throws(() => readConfig(env), ConfigError);
  const pair = { ADSWEEP_PROXY_TLS_CERTIFICATE: 'c', ADSWEEP_PROXY_TLS_KEY: 'k' };
  assert.throws(() => readConfig({ ...env, ...pair }), ConfigError);
  assert.equal(
    readConfig({ ...env, ...pair, ADSWEEP_GATEWAY_URL: 'https://gateway.example:8083' }).ADSWEEP_GATEWAY_TLS,
    'on',
  );
  assert.throws(
    () => readConfig({ ...env, ADSWEEP_GATEWAY_TLS: 'off', ADSWEEP_PROXY_TLS_CLIENT_CA: 'c' }),
    ConfigError,
  );
});
