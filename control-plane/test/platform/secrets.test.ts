import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { openSecrets, SecretError, secretsUnder } from '../../src/platform/secrets.ts';

const [FIRST, SECOND] = ['the first key of this test', 'the second key of this test'] as const;

const failsWith = (code: SecretError['code']) => (error: unknown) =>
  error instanceof SecretError && error.code === code;

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-secrets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('a stored secret', () => {
  it('§5.16 is decrypted in its context, and differs each time it is encrypted', () => {
    const secrets = secretsUnder([FIRST]);
    const [one, other] = [secrets.seal('whsec_€', 'webhook 1'), secrets.seal('whsec_€', 'webhook 1')];
    assert.notEqual(one, other);
    assert.ok(!one.includes(Buffer.from('whsec_€').toString('base64')));
    assert.deepEqual([secrets.open(one, 'webhook 1'), secrets.open(other, 'webhook 1')], ['whsec_€', 'whsec_€']);
    assert.equal(secrets.open(secrets.seal('', 'webhook 1'), 'webhook 1'), '');
  });

  it('§5.16 is refused in the record of another one', () => {
    const secrets = secretsUnder([FIRST]);
    const moved = secrets.seal('whsec_a', 'webhook 1');
    assert.throws(() => secrets.open(moved, 'webhook 2'), failsWith('changed'));
  });

  it('is refused with any bit changed, cut or emptied', () => {
    const secrets = secretsUnder([FIRST]);
    const sealed = secrets.seal('whsec_a', 'webhook 1');
    const [version, id, text] = sealed.split(':') as [string, string, string];
    const bytes = Buffer.from(text, 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      const changedSecret = [version, id, changed.toString('base64')].join(':');
      assert.throws(() => secrets.open(changedSecret, 'webhook 1'), failsWith('changed'), `byte ${at}`);
    }
    for (const other of ['', 'v1::', 'whsec_a', sealed.slice(0, 20), `${sealed}\n`, sealed.replace('v1', 'v2')])
      assert.throws(() => secrets.open(other, 'webhook 1'), failsWith('changed'), JSON.stringify(other));
  });

  it('is decrypted by both keys while one replaces the other; the first encrypts', () => {
    const [old, both, renewed] = [secretsUnder([FIRST]), secretsUnder([SECOND, FIRST]), secretsUnder([SECOND])];
    const before = old.seal('whsec_a', 'webhook 1');
    assert.equal(both.open(before, 'webhook 1'), 'whsec_a');
    assert.equal(renewed.open(both.seal('whsec_a', 'webhook 1'), 'webhook 1'), 'whsec_a');
    assert.throws(() => renewed.open(before, 'webhook 1'), failsWith('unknown_key'));
    assert.throws(() => renewed.open(before, 'webhook 1'), /secret of webhook 1 .* not in ADSWEEP_SECRETS_KEY/);
  });
});

describe('the key for stored secrets', () => {
  it('is made in the data folder at the first start, for its owner alone, and read at the next one', (t) => {
    const folder = newFolder(t);
    const sealed = openSecrets('', folder).seal('whsec_a', 'webhook 1');
    assert.equal(openSecrets('', folder).open(sealed, 'webhook 1'), 'whsec_a');
    assert.deepEqual(readdirSync(folder), ['secrets.key']);
    assert.equal(statSync(join(folder, 'secrets.key')).mode & 0o777, 0o600);
    assert.ok(readFileSync(join(folder, 'secrets.key'), 'utf8').length >= 43);
  });

  it('is the one of the setting where there is one', (t) => {
    const folder = newFolder(t);
    const sealed = openSecrets(`${FIRST.replaceAll(' ', '-')}`, folder).seal('whsec_a', 'webhook 1');
    assert.equal(secretsUnder([FIRST.replaceAll(' ', '-')]).open(sealed, 'webhook 1'), 'whsec_a');
    assert.deepEqual(readdirSync(folder), []);
  });

  it('is one for several processes that start at the same moment', async (t) => {
    const folder = newFolder(t);
    const file = new URL('../../src/platform/secrets.ts', import.meta.url).href;
    const start = new Int32Array(new SharedArrayBuffer(4));
    const script = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(${JSON.stringify(file)}).then(({ openSecrets }) => {
        Atomics.add(workerData.start, 0, 1);
        while (Atomics.load(workerData.start, 0) < 4);
        parentPort.postMessage(openSecrets('', workerData.folder).seal('whsec_a', 'webhook 1'));
      });`;
    const workers = Array.from({ length: 4 }, () => new Worker(script, { eval: true, workerData: { folder, start } }));
    const sealed = await Promise.all(
      workers.map((worker) => new Promise<string>((done, fail) => worker.once('message', done).once('error', fail))),
    );
    const secrets = openSecrets('', folder);
    for (const one of sealed) assert.equal(secrets.open(one, 'webhook 1'), 'whsec_a');
    assert.deepEqual(readdirSync(folder), ['secrets.key']);
  });

  it('is not replaced where its file is empty or cannot be read: the start fails and tells what to do', (t) => {
    const folder = newFolder(t);
    writeFileSync(join(folder, 'secrets.key'), '');
    assert.throws(() => openSecrets('', folder), /restore it from a backup/);
    assert.throws(() => openSecrets('', join(folder, 'missing')), OperatorError);
    assert.throws(() => openSecrets('', join(folder, 'secrets.key')), /set ADSWEEP_SECRETS_KEY/);
  });
});
