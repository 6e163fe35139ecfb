import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkText, checkTexts } from '../check-texts.ts';

// Concatenated, so that this file passes the check that it tests.
const slash = '/';
const machinePaths = [
  ['', 'work', 'main'],
  ['', 'root', '.npmrc'],
  ['', 'home', 'ada', 'x'],
].map((one) => one.join(slash));
const registry = ['https:', '', ['registry', 'npmjs', 'org'].join('.'), 'koa'].join(slash);

test('a path of a machine is reported with its line', () => {
  for (const path of machinePaths) {
    const found = checkText('README.md', `first\nsee ${path} for more`);
    assert.equal(found.length, 1, path);
    assert.match(found[0]!, /^README.md:2: /);
  }
});

test('paths that resemble a path of a machine are no breach', () => {
  for (const text of ['src/work/x.ts', 'https://example.com/work/1', '/workspace', 'docs/root/a', '/home/node/app'])
    assert.deepEqual(checkText('a.md', text), [], text);
});

const mirror = ['http:', '', ['deb', 'debian', 'org'].join('.'), 'debian'].join(slash);

test('a registry host and a mirror of a distribution are reported', () => {
  assert.equal(checkText('.npmrc', `registry=${registry}`).length, 1);
  assert.equal(checkText('sources.list', `deb ${mirror} bookworm main`).length, 1);
});

test('a URL in the lock file is reported, a link to a workspace is not', () => {
  const lock = (resolved: string) => checkText('package-lock.json', `"resolved": "${resolved}",`);
  assert.equal(lock('https://example.com/koa.tgz').length, 1);
  assert.equal(lock('git+ssh://git@example.com/koa.git').length, 1);
  assert.deepEqual(lock('shared'), []);
});

/** A folder of three files that name a path of a machine, one of them as if installed. */
function folderOfBreaches(): string {
  const root = mkdtempSync(join(tmpdir(), 'adsweep-texts-'));
  after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'node_modules'));
  for (const path of ['tracked.md', 'other.md', 'node_modules/x.md']) writeFileSync(join(root, path), machinePaths[0]!);
  return root;
}

const filesWithBreaches = (root: string) => checkTexts(root).map((line) => line.split(':')[0]);

test('without git, all files except installed ones are checked', () => {
  assert.deepEqual(filesWithBreaches(folderOfBreaches()).sort(), ['other.md', 'tracked.md']);
});

const hasGit = spawnSync('git', ['--version']).status === 0;

test('with git, only tracked files are checked', { skip: hasGit ? false : 'no git' }, () => {
  const root = folderOfBreaches();
  execFileSync('git', ['init', '-q'], { cwd: root });
  execFileSync('git', ['add', 'tracked.md'], { cwd: root });
  assert.deepEqual(filesWithBreaches(root), ['tracked.md']);
});
