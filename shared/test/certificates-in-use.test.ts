import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { measureCertificates, validityLeft } from '../src/service/certificates-in-use.ts';
import { listen } from '../src/service/listen.ts';
import { createLogger } from '../src/service/logger.ts';
import { openTlsClient } from '../src/service/tls-client.ts';

const FOLDER = join(import.meta.dirname, '../../infra/demo/test-certificate');
const [CERTIFICATE, KEY] = [join(FOLDER, 'certificate.pem'), join(FOLDER, 'private-key.pem')];
const PEM = readFileSync(CERTIFICATE, 'utf8');

test('the share of a certificate that is left goes from 1 at its beginning to 0 at its end, and is unknown without one', () => {
  const share = (now: number) => validityLeft(PEM, now) ?? Number.NaN;
  const [start, later] = [share(0), share(1_000_000_000_000)];
  const span = 1_000_000_000_000 / (start - later);
  const begin = (start - 1) * span;
  assert.equal(share(begin).toFixed(6), '1.000000');
  assert.equal(share(begin + span / 2).toFixed(6), '0.500000');
  assert.equal(share(begin + span).toFixed(6), '0.000000');
  assert.ok(share(begin + 2 * span) < 0);
  assert.equal(validityLeft('no certificate', 0), null);
});

test('the certificates of a listener and of a client are measured while they are in use', async () => {
  const [registry, logger] = [new Registry(), createLogger('test', 'silent')];
  measureCertificates(registry);
  const lines = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('adsweep_certificate_validity_left_ratio{'));
  assert.deepEqual(await lines(), []);
  const server = await listen('127.0.0.1', 0, 'PORT', {}, { files: { certificate: CERTIFICATE, key: KEY }, logger });
  assert.equal((await lines()).length, 1);
  await server.close(0);
  assert.deepEqual(await lines(), []);
  const client = openTlsClient({ ca: '', certificate: CERTIFICATE, key: KEY }, '', logger);
  const [line = ''] = await lines();
  assert.ok(line.startsWith(`adsweep_certificate_validity_left_ratio{certificate="${CERTIFICATE}"} 0.`), line);
  client.close();
  assert.deepEqual(await lines(), []);
});
