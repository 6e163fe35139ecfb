import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import type { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { readConfig } from '../src/config.ts';
import { NodeEnrolment } from '../src/node/node-enrolment.ts';

const LOGGER = createLogger('test', 'silent');
const TOKEN = `ade_${'t'.repeat(43)}`;
const IN_A_DAY = () => new Date(Date.now() + 25 * 3_600_000);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** What a control plane answers: `failures` to the next calls, then success; `calls` are those that reached it. */
function fakeApi() {
  const calls: string[][] = [];
  const failures: Error[] = [];
  const answer = async (...call: string[]) => {
    calls.push(call);
    const failure = failures.shift();
    if (failure) throw failure;
    return { expires_at: '2027-01-01T00:00:00.000Z' };
  };
  return {
    ...{ calls, failures },
    enrol: (...of: string[]) => answer('enrol', ...of),
    rotate: (...of: string[]) => answer('rotate', ...of),
  };
}

async function world(t: TestContext) {
  const folder = join(await mkdtemp(join(tmpdir(), 'enrolment-')), 'data');
  t.after(() => rm(join(folder, '..'), { recursive: true }));
  const api = fakeApi();
  const open = (token = '', nodeId = 'node-1') => NodeEnrolment.open({ folder, nodeId, token }, api, LOGGER);
  return { folder, api, open, path: join(folder, 'node-credential.json') };
}

const refusal = new NodeApiError('POST /nodes/node-1/enrol', 401, 'unauthorized', 'no');

test('a node exchanges its token once, and keeps the credential where its user alone can read it', async (t) => {
  const { folder, api, open, path } = await world(t);
  const enrolment = (await open(TOKEN))!;
  assert.match(enrolment.credential, /^adn_.{43}$/);
  assert.deepEqual(api.calls, [['enrol', 'node-1', TOKEN, sha256(enrolment.credential)]]);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  assert.deepEqual(await readdir(folder), ['node-credential.json']);
  assert.ok(!(await readFile(path, 'utf8')).includes(TOKEN));
  for (const token of [TOKEN, '']) assert.equal((await open(token))!.credential, enrolment.credential);
  assert.equal(api.calls.length, 1);
});

test('a node whose exchange had no answer offers the same credential again, also after a crash', async (t) => {
  const { api, open } = await world(t);
  api.failures.push(new Error('the connection broke'), refusal);
  await assert.rejects(open(TOKEN), /ADSWEEP_ENROLMENT_TOKEN was refused/);
  const enrolment = (await open(TOKEN))!;
  assert.equal(api.calls.length, 3);
  assert.equal(new Set(api.calls.map((call) => call.at(-1))).size, 1);
  assert.equal(api.calls[0]!.at(-1), sha256(enrolment.credential));
});

test('a token that is refused leaves the credential that the node has', async (t) => {
  const { api, open } = await world(t);
  const { credential } = (await open(TOKEN))!;
  api.failures.push(refusal);
  const another = `ade_${'u'.repeat(43)}`;
  await assert.rejects(open(another), /refused/);
  assert.equal((await open(TOKEN))!.credential, credential);
  assert.notEqual((await open(another))!.credential, credential);
});

test('a node rotates its credential when it is a day old, and offers the same one until that was answered', async (t) => {
  const { api, open } = await world(t);
  const enrolment = (await open(TOKEN))!;
  const { credential } = enrolment;
  await enrolment.rotateIfOld(new Date());
  assert.equal(api.calls.length, 1);
  api.failures.push(new Error('the connection broke'));
  await enrolment.rotateIfOld(IN_A_DAY());
  assert.equal(enrolment.credential, credential, 'it is used until the next one is known to be accepted');
  const restarted = (await open())!;
  await restarted.rotateIfOld(IN_A_DAY());
  const [, first, second] = api.calls;
  assert.deepEqual(first, ['rotate', 'node-1', credential, sha256(restarted.credential)]);
  assert.deepEqual(second, first);
  assert.equal((await open())!.credential, restarted.credential);
});

test('a node whose clock was set back by more than a day rotates its credential, which would expire otherwise', async (t) => {
  const { api, open } = await world(t);
  const enrolment = (await open(TOKEN))!;
  const { credential } = enrolment;
  await enrolment.rotateIfOld(new Date(Date.now() - 3_600_000));
  assert.equal(api.calls.length, 1);
  await enrolment.rotateIfOld(new Date(Date.now() - 40 * 24 * 3_600_000));
  assert.notEqual(enrolment.credential, credential);
});

test('a node refuses the file of another node, and one that cannot be read', async (t) => {
  const { folder, open } = await world(t);
  assert.equal(await open(), null);
  await open(TOKEN);
  await assert.rejects(open('', 'node-2'), /has the credential of the node node-1/);
  await rm(join(folder, 'node-credential.json'));
  await writeFile(join(folder, 'node-credential.json'), '{"node_id":');
  await assert.rejects(open(), /enrol the node again/);
});

test('a folder that cannot be used is refused with its setting, before the token is', async (t) => {
  const { folder, api } = await world(t);
  await writeFile(folder, 'no folder');
  for (const unusable of [folder, join(folder, 'below')])
    await assert.rejects(
      NodeEnrolment.open({ folder: unusable, nodeId: 'node-1', token: TOKEN }, api, LOGGER),
      (error) =>
        error instanceof OperatorError &&
        error.message.startsWith(`${unusable} cannot be used, check ADSWEEP_NODE_DATA_DIR: E`),
    );
  assert.deepEqual(api.calls, []);
});

test('a node needs a join token or a data folder, and an enrolment token needs the folder', () => {
  const problems = (env: NodeJS.ProcessEnv) => {
    try {
      readConfig(env);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  assert.match(problems({}).join(), /ADSWEEP_NODE_TOKEN is not set/);
  assert.match(problems({ ADSWEEP_ENROLMENT_TOKEN: TOKEN }).join(), /needs ADSWEEP_NODE_DATA_DIR/);
  assert.equal(problems({ ADSWEEP_NODE_TOKEN: 'short' }).length, 1);
  assert.deepEqual(problems({ ADSWEEP_NODE_DATA_DIR: '/data' }), []);
  assert.deepEqual(problems({ ADSWEEP_NODE_TOKEN: 'the-token-of-all-nodes' }), []);
});
