import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { untilGone } from '../../bootstrap/test/processes.ts';

/** A checkout that contains only the runner and these test files. */
function checkout(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'adsweep-tests-'));
  after(() => rmSync(root, { recursive: true }));
  for (const folder of ['checks', 'bootstrap'])
    cpSync(join(import.meta.dirname, '../..', folder), join(root, 'infra', folder), {
      recursive: true,
      filter: (path) => !path.endsWith('/test'),
    });
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `import { test } from 'node:test';\n${text}\n`);
  }
  return root;
}

const runTests = (root: string, ...words: string[]) => runNode(root, 'infra/checks/run-tests.ts', ...words);

function runNode(root: string, ...words: string[]): Promise<{ status: number; output: string }> {
  // Node.js refuses to run tests inside a test, unless the inner run does not know of the outer one.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, CHROMIUM_PATH: '/a/browser' };
  const { promise, resolve } = Promise.withResolvers<{ status: number; output: string }>();
  execFile(process.execPath, words, { cwd: root, env }, (error, stdout, stderr) =>
    resolve({ status: error ? Number(error.code) : 0, output: stdout + stderr }),
  );
  return promise;
}

const passing = "test('water is wet', () => {});";
const findsBrowser = (finds: boolean) =>
  `test('a browser', () => { if ((process.env.CHROMIUM_PATH === '/a/browser') !== ${finds}) throw new Error(process.env.CHROMIUM_PATH); });`;
const failing = "test('water is dry', () => { throw new Error('it is not'); });";

// Most of them wait for a limit.
describe('npm test', { concurrency: 4 }, () => {
  test('npm test runs all workspaces, files with browsers last, and prints the totals of both passes', async () => {
    const root = checkout({
      'browser-node/test/a.e2e.test.ts': passing,
      'shared/test/deep/b.test.ts': passing,
      'shared/test/deep/d.slow.test.ts': passing,
      'infra/farm/test/c.test.ts': `${passing}\ntest('needs a film', { skip: 'no ffmpeg' }, () => {});`,
    });
    const { status, output } = await runTests(root);
    assert.equal(status, 0, output);
    if (process.platform === 'linux') assert.match(output, /\d\.\d s of processor time {2}browser-node\/test\/a\.e2e/);
    assert.match(
      output,
      /\d\.\d s of processor time {2}shared\/test\/deep\/b\.test/,
      'also of a file that shares a process',
    );
    assert.match(output, /tests 5\n/);
    assert.match(output, /pass 4\n/);
    assert.match(output, /skipped 1\n/);
    assert.match(output, /left out: 1 \(no ffmpeg\)/);
    assert.ok(output.indexOf('a.e2e.test.ts') > output.indexOf('b.test.ts'), output);
    assert.match(readFileSync(join(root, '.tools/log/tests.txt'), 'utf8'), /water is wet/);
  });

  test('--quick omits the files that start a browser and those that take long, and prints their numbers; other files find no browser', async () => {
    const root = checkout({
      'shared/test/a.test.ts': findsBrowser(false),
      'browser-node/test/a.e2e.test.ts': findsBrowser(true),
      'browser-node/test/b.e2e.test.ts': failing,
      'shared/test/c.slow.test.ts': findsBrowser(false),
      'shared/test/slow.test.ts': passing,
      'shared/test/d.test.ts': `import { slow } from '${new URL('../../../shared/test/support/slow.ts', import.meta.url)}';
test('takes long', slow, () => {});
test('is quick', () => {});`,
    });
    const quick = await runTests(root, '--quick');
    assert.equal(quick.status, 0, quick.output);
    assert.match(quick.output, /left out: 2 files that start a browser/);
    assert.match(quick.output, /left out: 1 files that take long/);
    assert.match(quick.output, /left out: 1 \(it takes long: --quick leaves it out\)/);
    assert.match(quick.output, /tests 4\n/);
    assert.match(quick.output, /pass 3\n/);
    const others = await runTests(root, 'a.e2e', 'slow', 'd.test');
    assert.equal(others.status, 0, others.output);
    assert.match(others.output, /pass 5\n/);
  });

  test('npm test leaves the files that kill and flood to --all and says so; a path runs them too', async () => {
    const root = checkout({
      'shared/test/a.test.ts': passing,
      'shared/test/kills.resilience.slow.test.ts': failing,
      'browser-node/test/floods.resilience.e2e.test.ts': failing,
    });
    const usual = await runTests(root);
    assert.equal(usual.status, 0, usual.output);
    assert.match(usual.output, /left to npm run test:all: 2 files/);
    assert.match(usual.output, /tests 1\n/);
    const all = await runTests(root, '--all');
    assert.equal(all.status, 1, all.output);
    assert.match(all.output, /pass 1\n/);
    assert.match(all.output, /fail 2\n/);
    assert.match((await runTests(root, '.resilience.')).output, /fail 2\n/);
  });

  test('a failing test, a file that cannot be loaded and an empty checkout each give exit code 1, with the reason', async () => {
    const failed = await runTests(checkout({ 'shared/test/a.test.ts': failing, 'shared/test/b.test.ts': passing }));
    assert.equal(failed.status, 1);
    assert.match(failed.output, /it is not/);
    assert.match(failed.output, /fail 1\n/);
    const broken = await runTests(checkout({ 'shared/test/a.test.ts': "import './no-such-file.ts';" }));
    assert.equal(broken.status, 1);
    assert.match(broken.output, /no-such-file/);
    const empty = await runTests(checkout({}));
    assert.equal(empty.status, 1);
    assert.match(empty.output, /no test file found/);
  });

  test('files without a browser share a process, each with its own hooks and its own line; one that cannot be loaded fails alone, an error that nothing caught fails all', async () => {
    const counts = `import { after, afterEach, before } from 'node:test';
      let hooks = 0;
      before(() => { hooks += 1; });
      afterEach(() => { hooks += 1; });
      after(() => { if (hooks !== 3) throw new Error('hooks of another file ran: ' + hooks); });
      await new Promise((resolve) => setTimeout(resolve, 5));
      globalThis.loaded = (globalThis.loaded ?? 0) + 1;
      test('one', () => {});
      test('all are in one process', () => { if (globalThis.loaded !== 3) throw new Error('' + globalThis.loaded); });`;
    const names = ['a', 'b', 'c'].map((name) => `shared/test/${name}.test.ts`);
    const root = checkout({
      ...Object.fromEntries(names.map((name) => [name, counts])),
      'shared/test/broken.test.ts': "import './no-such-file.ts';",
    });
    const { status, output } = await runTests(root, '--quick');
    assert.equal(status, 1);
    for (const name of names) assert.match(output, new RegExp(`ok .* 2 {2}${name}`));
    assert.match(output, /FAILED .*broken\.test\.ts/);
    assert.match(output, /no-such-file/);
    assert.match(output, /pass 6\n/);
    rmSync(join(root, 'shared/test/broken.test.ts'));
    const lost = `test('loses an error', async () => {
      setTimeout(() => { throw new Error('lost and found'); });
      await new Promise((resolve) => setTimeout(resolve, 20));
    });`;
    writeFileSync(join(root, 'shared/test/lost.test.ts'), `import { test } from 'node:test';\n${lost}`);
    const uncaught = await runTests(root, '--quick');
    assert.equal(uncaught.status, 1);
    assert.match(uncaught.output, /an error that nothing caught, in shared\/test\/lost\.test\.ts.*lost and found/);
    rmSync(join(root, 'shared/test/lost.test.ts'));
    const whole = await runTests(root, '--quick');
    assert.equal(whole.status, 0, whole.output);
  });

  test('a file in a shared process whose hook fails before it stops a server ends with what it leaves open, and does not wait for the limit of a file', async () => {
    const leaves = `import { createServer } from 'node:net';
      test('leaves a server', (t) => {
        const server = createServer().listen(0);
        t.after(() => { throw new Error('the folder is not empty'); });
        t.after(() => server.close());
      });`;
    const root = checkout({ 'shared/test/a.test.ts': leaves, 'shared/test/b.test.ts': passing });
    const entry = "import { runTestGroup } from '../infra/checks/run-test-group.ts';";
    const files = "['shared/test/a.test.ts', 'shared/test/b.test.ts']";
    const call = `runTestGroup('${pathToFileURL(root).href}', ${files}, 200);`;
    writeFileSync(join(root, 'shared/group.ts'), `${entry}\n${call}\n`);
    const { status, output } = await runNode(root, 'shared/group.ts');
    assert.equal(status, 1, output);
    assert.match(output, /✖ leaves a server/);
    assert.match(output, /held open 0\.2 s after its last test by .*TCPServerWrap/);
  });

  test('arguments limit the run to files, folders, globs or test names', async () => {
    const root = checkout({
      'shared/test/wet.test.ts': passing,
      'shared/test/dry.test.ts': failing,
      'loadtest/test/wet.e2e.test.ts': passing,
    });
    assert.equal((await runTests(root, 'shared/test/wet.test.ts')).status, 0);
    assert.equal((await runTests(root, './loadtest/')).status, 0);
    assert.equal((await runTests(root, '**/wet*')).status, 0);
    assert.equal((await runTests(root, join(root, 'shared/test/wet.test.ts'))).status, 0);
    assert.equal((await runTests(root, '--test-name-pattern=is wet')).status, 0);
    assert.equal((await runTests(root, 'shared')).status, 1);
    assert.match((await runTests(root, 'nowhere')).output, /no test file matches nowhere/);
  });

  const outlivesItsLimit: Record<string, string> = {
    'a promise that never resolves, with an open handle':
      "test('x', () => { setInterval(() => {}, 1000); return new Promise(() => {}); });",
    'an event loop that is blocked, in a process that ignores requests to stop':
      "process.on('SIGTERM', () => {});\ntest('x', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });",
    'a child that holds the output open':
      "import { spawn } from 'node:child_process';\ntest('x', () => {\n" +
      "  console.error('child', spawn('sleep', ['600'], { stdio: 'inherit' }).pid, 'end');\n});",
    'a failed test that leaves a handle open':
      "test('x', () => { setInterval(() => {}, 1000); throw new Error('no'); });",
    'a child in a group of its own that holds the output open':
      "import { spawn } from 'node:child_process';\ntest('x', () => new Promise(() => {\n" +
      "  spawn('sleep', ['8'], { stdio: 'inherit', detached: true });\n}));",
  };

  for (const [what, text] of Object.entries(outlivesItsLimit))
    test(`a test file beyond its time limit is killed and named, and the others run: ${what}`, {
      timeout: 60_000,
    }, async () => {
      const root = checkout({ 'shared/test/hangs.test.ts': text, 'shared/test/well.test.ts': passing });
      const { status, output } = await runTests(root, '--file-timeout=4000');
      assert.equal(status, 1, output);
      assert.match(output, /FAILED {2}shared\/test\/hangs\.test\.ts: still running after 4 s/);
      assert.match(output, /ok .*well\.test\.ts/);
      const child = output.match(/child (\d+) end/);
      if (child) await untilGone(Number(child[1]));
    });

  test('a test beyond its time limit is named', async () => {
    const waits = "test('waits', () => { setTimeout(() => {}, 3_000); return new Promise(() => {}); });";
    const { status, output } = await runTests(checkout({ 'shared/test/a.test.ts': waits }), '--test-timeout=200');
    assert.equal(status, 1, output);
    assert.match(output, /waits/);
    assert.match(output, /timed out after 200ms/);
  });

  test('a run beyond its time limit is stopped and its running files are named', async () => {
    const hangs = 'setInterval(() => {}, 1000);';
    const { status, output } = await runTests(checkout({ 'shared/test/hangs.test.ts': hangs }), '--run-timeout=1000');
    assert.equal(status, 1, output);
    assert.match(output, /has not ended within 1 s/);
    assert.match(output, /hangs\.test\.ts/);
  });

  test('processes that a passing test file leaves behind are killed', async () => {
    const leaves =
      "import { spawn } from 'node:child_process';\nconst left = spawn('sleep', ['600'], { stdio: 'ignore' });\n" +
      "left.unref();\ntest('left ' + left.pid, () => {});";
    const { status, output } = await runTests(checkout({ 'shared/test/a.test.ts': leaves }), 'shared');
    assert.equal(status, 0, output);
    await untilGone(Number(output.match(/left (\d+)/)![1]));
  });

  test('an unknown option of npm test is refused', async () => {
    const { status, output } = await runTests(checkout({ 'shared/test/a.test.ts': passing }), '--file-timout=1');
    assert.equal(status, 1);
    assert.match(output, /Unknown option '--file-timout'/);
  });
});
