import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { slow } from '../../../shared/test/support/slow.ts';
import { untilFilled, untilGone } from './processes.ts';

interface Options {
  /** What npm does in this checkout: the text of a shell script. */
  npm?: string;
  installed?: boolean;
}

const standInNpm = `
import { spawn } from 'node:child_process';
const script = import.meta.dirname + '/npm.sh';
const child = spawn('sh', [script, ...process.argv.slice(2)], { stdio: 'inherit' });
child.on('exit', (code) => process.exit(code));
`;

/** A checkout with the real bootstrap and a stand-in for what it runs and for npm. */
function checkout(entry: string, { npm = 'exit 9', installed = true }: Options = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'adsweep-bootstrap-'));
  after(() => rmSync(root, { recursive: true, force: true }));
  cpSync(join(import.meta.dirname, '..'), join(root, 'infra/bootstrap'), { recursive: true });
  const files: Record<string, string> = {
    'package.json': '{ "type": "module" }',
    'package-lock.json': '{}',
    'infra/checks/check.ts': entry,
    // The bootstrap calls the npm that called it. One that is only first in PATH would lose to the npm beside Node.js 24.
    'bin/npm-cli.js': standInNpm,
    'bin/npm.sh': npm,
  };
  const stamp = `${createHash('sha256').update('{}').digest('hex')} node-24 ${process.platform}-${process.arch}\n`;
  if (installed) files['node_modules/.installed-from'] = stamp;
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function environment(root: string, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { CHROMIUM_PATH: _, ...env } = process.env;
  return { ...env, npm_execpath: join(root, 'bin/npm-cli.js'), ...extra };
}

function bootstrap(root: string, words: string[], extra: Record<string, string> = {}) {
  const options = { env: environment(root, extra), encoding: 'utf8' } as const;
  return spawnSync(process.execPath, [join(root, 'infra/bootstrap/run.mjs'), ...words], options);
}

function startBootstrap(root: string): {
  child: ChildProcess;
  output: () => string;
  until: (text: string) => Promise<void>;
} {
  const child = spawn(process.execPath, [join(root, 'infra/bootstrap/run.mjs'), 'check'], { env: environment(root) });
  let output = '';
  const until = async (text: string) => {
    while (!output.includes(text)) await once(child, 'heard');
  };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk);
      child.emit('heard');
    });
  return { child, output: () => output, until };
}

const waitForever = "console.log('running', process.pid);\nsetInterval(() => {}, 1000);\n";

test('with nothing missing, the bootstrap is silent, forwards arguments and returns the program’s exit code', () => {
  const root = checkout('console.log(process.argv.slice(2).join());\nprocess.exit(7);\n');
  const run = bootstrap(root, ['check', 'a', '--b']);
  assert.deepEqual([run.status, run.stdout, run.stderr], [7, 'a,--b\n', '']);
});

test('an unknown verb prints the known ones', () => {
  const run = bootstrap(checkout(''), ['dance']);
  assert.equal(run.status, 1);
  assert.match(run.stderr, /start, test, backup, restore, move-files, test:containers, check, spec-coverage, bench/);
});

test('missing packages are installed once, and the steps are printed', () => {
  const root = checkout("console.log('checked');\n", {
    installed: false,
    npm: 'mkdir -p node_modules; echo "$@" >npm-was-called',
  });
  const first = bootstrap(root, ['check']);
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stderr, /done {4}npm packages/);
  const second = bootstrap(root, ['check']);
  assert.deepEqual([second.status, second.stderr], [0, '']);
});

test('a changed lock file is installed again', () => {
  const root = checkout("console.log('checked');\n", { npm: 'mkdir -p node_modules' });
  writeFileSync(join(root, 'package-lock.json'), '{ "changed": true }');
  assert.match(bootstrap(root, ['check']).stderr, /npm packages/);
});

test('a failed step prints what failed and why, and exits 1', () => {
  const root = checkout('', { installed: false, npm: 'echo "no such planet"; exit 3' });
  const run = bootstrap(root, ['check']);
  assert.equal(run.status, 1);
  assert.match(run.stderr, /FAILED {2}npm packages/);
  assert.match(run.stderr, /npm-cli\.js ci .*failed \(exit 3\)/);
  assert.match(run.stderr, /no such planet/);
});

test('a browser setting with an unusable path is refused with a clear message', () => {
  const run = bootstrap(checkout(''), ['start'], { CHROMIUM_PATH: '/nowhere/chromium' });
  assert.equal(run.status, 1);
  assert.match(run.stderr, /CHROMIUM_PATH names \/nowhere\/chromium/);
});

test('a signal that arrives twice at once is forwarded once, and the program’s exit code is returned', async () => {
  const root = checkout(
    "let stops = 0;\nprocess.on('SIGINT', () => { stops += 1; setTimeout(() => process.exit(stops), 200); });\n" +
      waitForever,
  );
  const { child, until } = startBootstrap(root);
  await until('running');
  child.kill('SIGINT');
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  assert.equal(code, 1);
});

test('processes that the program leaves behind after a stop are killed', slow, async () => {
  const root = checkout(
    "import { spawn } from 'node:child_process';\nconst left = spawn('sleep', ['600'], { stdio: 'ignore' });\nprocess.on('SIGTERM', () => process.exit(0));\nconsole.log('left', left.pid, 'end');\n",
  );
  const { child, output, until } = startBootstrap(root);
  await until('end');
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
  await untilGone(Number(output().match(/left (\d+)/)![1]));
});

test('a killed bootstrap ends its program', async () => {
  const { child, output, until } = startBootstrap(checkout(waitForever));
  await until('running');
  child.kill('SIGKILL');
  await untilGone(Number(output().match(/running (\d+)/)![1]));
});

test('a signal during an installation ends it with all its processes and leaves no lock', async () => {
  const root = checkout("console.log('checked');\n", { installed: false, npm: 'sleep 600 & echo $! >sleeping; wait' });
  const { child, output, until } = startBootstrap(root);
  await until('npm packages');
  const sleeping = await untilFilled(join(root, 'sleeping'));
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  assert.equal(code, 130, output());
  assert.match(output(), /Stopped/);
  await untilGone(Number(sleeping));
  assert.equal(existsSync(join(root, '.tools/bootstrap.lock')), false);
});
