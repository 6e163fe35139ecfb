import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { until } from '../../shared/test/support/until.ts';
import { tryChromium } from '../src/browser/chromium-pool.ts';
import { startChromium } from '../src/browser/chromium-process.ts';
import { profilePrefix } from '../src/browser/chromium-profile.ts';
import { locateChromium } from '../src/browser/locate-chromium.ts';
import { chromiumOfRun } from './support/chromium-of-run.ts';
import { groupMembers } from './support/processes.ts';

const isRoot = process.getuid?.() === 0;
const silent = createLogger('test', 'silent');

/** A Chromium with one empty page: process ids of its group and of the page's renderer. */
async function chromiumWithPage(t: TestContext, sandbox = true) {
  const chromium = await startChromium(await chromiumOfRun({ sandbox }), silent);
  t.after(() => chromium.kill());
  chromium.write.write('{"id":1,"method":"Target.createTarget","params":{"url":"about:blank"}}\0');
  const isRenderer = async (pid: string) => (await readProc(pid, 'cmdline')).includes('--type=renderer');
  const findRenderer = async () => {
    for (const pid of await groupMembers(chromium.pid as number)) if (await isRenderer(pid)) return pid;
    return null;
  };
  const renderer = await until('a renderer', findRenderer, 20);
  return { pid: String(chromium.pid), renderer, all: await groupMembers(chromium.pid as number) };
}

const readProc = (pid: string, file: string): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');

const statusOf = async (pid: string, field: string): Promise<string | undefined> =>
  new RegExp(`^${field}:[ \\t]*(.*)$`, 'm').exec(await readProc(pid, 'status'))?.[1]?.trim();

test('processes of Chromium have only the listed environment variables of the node', async (t) => {
  process.env.ADSWEEP_TEST_SECRET = 'a-secret-of-the-operator';
  t.after(() => delete process.env.ADSWEEP_TEST_SECRET);
  const { pid, all } = await chromiumWithPage(t);
  assert.ok(all.length >= 4);
  for (const each of all) assert.doesNotMatch(await readProc(each, 'environ'), /a-secret-of-the-operator/);
  const names = (await readProc(pid, 'environ')).split('\0').map((variable) => variable.split('=')[0] ?? '');
  // The last four are set by the shell if a script starts Chromium.
  const given =
    /^(PATH|LANG|LC_ALL|TZ|FONTCONFIG_FILE|FONTCONFIG_PATH|LD_LIBRARY_PATH|HOME|TMPDIR|PWD|OLDPWD|SHLVL|_|)$/;
  assert.deepEqual(
    names.filter((name) => !given.test(name)),
    [],
  );
});

test('a renderer is sandboxed: with a system call filter, and namespaces and a root folder of its own', async (t) => {
  const { pid, renderer } = await chromiumWithPage(t);
  // A renderer installs the filter shortly after its start.
  await until('a filter of system calls', async () => (await statusOf(renderer, 'Seccomp')) === '2');
  assert.equal(await statusOf(renderer, 'NoNewPrivs'), '1');
  if (isRoot)
    for (const kind of ['user', 'pid', 'net'])
      assert.notEqual(await readlink(`/proc/${renderer}/ns/${kind}`), await readlink(`/proc/${pid}/ns/${kind}`), kind);
});

test('a renderer has no sandbox if the operator switches it off', async (t) => {
  const { renderer } = await chromiumWithPage(t, false);
  assert.equal(await statusOf(renderer, 'Seccomp'), '0');
});

const asRoot = { skip: isRoot ? false : 'only root can choose another user' };

test(
  'if the node runs as root, Chromium has a user of its own, without groups and capabilities and with a private profile',
  asRoot,
  async (t) => {
    const { all, pid } = await chromiumWithPage(t);
    for (const each of all) {
      assert.equal(await statusOf(each, 'Uid'), '65530\t65530\t65530\t65530');
      assert.equal(await statusOf(each, 'Gid'), '65530\t65530\t65530\t65530');
      assert.equal(await statusOf(each, 'Groups'), '');
    }
    assert.equal(await statusOf(pid, 'CapEff'), '0000000000000000');
    const [profile = ''] = (await readdir(tmpdir())).filter((name) => name.startsWith(profilePrefix(process.pid)));
    const { mode, uid } = await stat(join(tmpdir(), profile));
    assert.equal(mode & 0o777, 0o700);
    assert.equal(uid, 65_530);
  },
);

test('on a machine without a usable sandbox, the start error names the command that allows it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-stand-in-'));
  t.after(() => rm(folder, { recursive: true }));
  const { version } = await chromiumOfRun();
  const path = join(folder, 'chromium');
  await writeFile(
    path,
    `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\necho 'No usable sandbox!' >&2\nexit 1\n`,
  );
  await chmod(path, 0o755);
  await chmod(folder, 0o755);
  await assert.rejects(tryChromium(await locateChromium(path), silent), {
    name: 'Error',
    message: /^Chromium's sandbox does not work on this machine, because .*ADSWEEP_CHROMIUM_SANDBOX=off[^\n]*$/,
  });
});

test('if its user may not run Chromium, the start error names the remedy', asRoot, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-closed-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'chromium');
  await cp('/bin/true', path);
  await assert.rejects(locateChromium(path), /cannot be run by user 65530.*CHROMIUM_PATH/);
});
