import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { followTlsFiles, type TlsPair } from '@adsweep/shared/service/tls-files.ts';
import { readConfig } from '../src/config.ts';
import { logger, startTestRouter, temporaryFolder } from './support/router.ts';

const PAIR = join(import.meta.dirname, '../../infra/demo/test-certificate');

/** A certificate for `localhost` and its key, as files that the test may change. */
function tlsFiles(t: TestContext) {
  const folder = temporaryFolder(t);
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
  const { certificate, key } = tlsFiles(t);
  const config = { ADSWEEP_PROXY_TLS_CERTIFICATE: certificate, ADSWEEP_PROXY_TLS_KEY: key };
  const { ports } = await startTestRouter(t, { config });
  const url = `https://localhost:${ports.api}/healthz`;
  assert.equal(await statusOver(url, [readFileSync(certificate, 'utf8')]), 200);
  await assert.rejects(statusOver(url, []), /self-signed certificate/);
  await assert.rejects(fetch(`http://127.0.0.1:${ports.api}/healthz`));
});

it('a certificate that does not fit its key ends the start with a sentence; one without a key is a wrong setting', async (t) => {
  const { certificate, key } = tlsFiles(t);
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
  const files = tlsFiles(t);
  const used: TlsPair[] = [];
  t.after(followTlsFiles(files, (pair) => used.push(pair), logger, 5));
  assert.equal(used.length, 1);
  const renewed = `${readFileSync(files.certificate, 'utf8')}\n`;
  writeFileSync(files.certificate, 'half a certificate');
  await sleep(30);
  assert.equal(used.length, 1);
  writeFileSync(files.certificate, renewed);
  while (used.length === 1) await sleep(5);
  assert.equal(used[1]?.cert, renewed);
});
