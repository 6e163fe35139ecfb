import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  causeLines,
  distributionOf,
  isNodeRecentEnough,
  locatePart,
  type Machine,
  releaseOf,
  wayTo,
  whatToType,
  worthInstalling,
} from '../decide.mjs';

const debian: Machine = {
  platform: 'linux',
  arch: 'x64',
  nodeVersion: 'v20.20.2',
  distribution: 'debian',
  release: 'debian-12',
  isRoot: true,
  env: { PATH: '/usr/bin:/opt/bin' },
};
const has =
  (...files: string[]) =>
  (file: string) =>
    files.includes(file);

test('Node.js is recent enough from v24.6.0 on', () => {
  assert.deepEqual(['v20.20.2', 'v24.5.9', 'v24.6.0', 'v24.21.0', 'v25.0.0', '26.1.0'].map(isNodeRecentEnough), [
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
});

/** `recorded`: copied from the system. `written`: the fields that count, written by hand from each system's documentation. */
const KNOWN_SYSTEMS: [file: string, distribution: string, release: string][] = [
  ['recorded/debian-12', 'debian', 'debian-12'],
  ['recorded/debian-13', 'debian', 'debian-13'],
  ['recorded/debian-sid', 'debian', 'debian-forky'],
  ['recorded/ubuntu-24.04', 'ubuntu', 'ubuntu-24.04'],
  ['written/raspbian-12', 'debian', 'raspbian-12'],
  ['written/linuxmint-22', 'ubuntu', 'linuxmint-22'],
  ['written/fedora-42', 'fedora', 'fedora-42'],
  ['written/rocky-9', 'fedora', 'rocky-9.4'],
  ['written/arch', 'arch', 'arch'],
  ['written/alpine-3.20', 'other', 'alpine-3.20.3'],
];

test('the distribution is read from os-release', () => {
  for (const [file, distribution, release] of KNOWN_SYSTEMS) {
    const text = readFileSync(join(import.meta.dirname, 'os-release', file), 'utf8');
    assert.deepEqual([distributionOf(text), releaseOf(text)], [distribution, release], file);
  }
  assert.deepEqual([distributionOf(''), releaseOf('')], ['other', 'unknown']);
});

test('a hostile os-release cannot name a folder outside the checkout', () => {
  assert.equal(releaseOf('ID=../../etc\nVERSION_ID="1/2 3"\n'), '.._.._etc-1_2_3');
});

test('the setting wins over what is installed', () => {
  const machine = { ...debian, env: { ...debian.env, CHROMIUM_PATH: '/my/chrome' } };
  const canRun = has('/my/chrome', '/usr/lib/chromium/chromium-headless-shell');
  assert.equal(locatePart('chromium', machine, canRun), '/my/chrome');
});

test('a setting with an unusable path is an error; no other program is searched', () => {
  const machine = { ...debian, env: { ...debian.env, CHROMIUM_PATH: '/my/chrome' } };
  assert.throws(() => locatePart('chromium', machine, has('/usr/bin/chromium')), /CHROMIUM_PATH names \/my\/chrome/);
});

test("Debian's headless shell comes first, then what PATH has", () => {
  const shell = '/usr/lib/chromium/chromium-headless-shell';
  assert.equal(locatePart('chromium', debian, has('/usr/bin/chromium', shell)), shell);
  assert.equal(locatePart('chromium', debian, has('/opt/bin/google-chrome')), '/opt/bin/google-chrome');
  assert.equal(locatePart('chromium', debian, has('/elsewhere/chromium')), null);
});

test('a Redis elsewhere makes redis-server unnecessary', () => {
  const machine = { ...debian, env: { ...debian.env, REDIS_URL: 'redis://10.0.0.5:6379' } };
  assert.equal(locatePart('redis', debian, has()), null);
  assert.equal(locatePart('redis', machine, has()), 'redis://10.0.0.5:6379');
});

test('on Debian and Ubuntu, packages are installed for root and unpacked for other users', () => {
  assert.equal(wayTo('redis', debian), 'install');
  assert.equal(wayTo('redis', { ...debian, isRoot: false }), 'unpack');
  assert.equal(wayTo('chromium', { ...debian, isRoot: false }), 'unpack');
  assert.equal(wayTo('redis', { ...debian, distribution: 'ubuntu' }), 'install');
  assert.equal(wayTo('redis', { ...debian, distribution: 'ubuntu', isRoot: false }), 'unpack');
});

test("Ubuntu's Chromium is a snap: Debian's is unpacked there", () => {
  assert.equal(wayTo('chromium', { ...debian, distribution: 'ubuntu' }), 'unpack-debian');
  assert.equal(wayTo('chromium', { ...debian, distribution: 'ubuntu', isRoot: false }), 'unpack-debian');
});

test('on Fedora, Arch and macOS the exact command is printed, elsewhere the names of the programs', () => {
  const typed = (machine: Partial<Machine>) =>
    whatToType(['chromium', 'redis'], { ...debian, isRoot: false, ...machine });
  assert.equal(typed({ distribution: 'fedora' })[0], '  sudo dnf install -y chromium-headless redis');
  assert.equal(typed({ distribution: 'fedora', isRoot: true })[0], '  dnf install -y chromium-headless redis');
  assert.equal(typed({ distribution: 'arch' })[0], '  sudo pacman -S --needed chromium valkey');
  const mac = typed({ platform: 'darwin', distribution: 'other' });
  assert.deepEqual(mac.slice(0, 2), ['  brew install --cask google-chrome', '  brew install redis']);
  const other = typed({ distribution: 'other' }).join('\n');
  assert.match(other, /install Chromium.*\n {2}install Redis 7/);
  assert.match(other, /CHROMIUM_PATH.*\n.*REDIS_URL/);
});

test('a missing optional part that cannot be installed stops nothing', () => {
  const fedora = { ...debian, distribution: 'fedora' as const };
  assert.equal(worthInstalling(['ffmpeg'], fedora), false);
  assert.equal(worthInstalling(['ffmpeg', 'redis'], fedora), true);
  assert.equal(worthInstalling(['ffmpeg'], { ...debian, isRoot: false }), true);
  assert.equal(worthInstalling([], debian), false);
});

test('the last non-empty lines of a failed command are shown', () => {
  assert.deepEqual(causeLines('a\nb\n\nc\n\n', 2), ['b', 'c']);
});

test('the cause of a failed npm is shown, which npm prints before its usage', () => {
  const output = 'npm warn old\nnpm error code EUSAGE\nnpm error\nnpm error not in sync\nnpm error Usage:\n';
  assert.deepEqual(causeLines(output, 2), ['npm error code EUSAGE', 'npm error not in sync']);
});
