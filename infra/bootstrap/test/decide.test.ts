import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  distributionOf,
  locatePart,
  type Machine,
  majorOf,
  packagesToInstall,
  tellingLines,
  whatToType,
  worthInstalling,
} from '../decide.mjs';

const debian: Machine = {
  platform: 'linux',
  arch: 'x64',
  nodeVersion: 'v20.20.2',
  distribution: 'debian',
  isRoot: true,
  env: { PATH: '/usr/bin:/opt/bin' },
};
const has =
  (...files: string[]) =>
  (file: string) =>
    files.includes(file);

test('the major version is read with and without the v', () => {
  assert.equal(majorOf('v20.20.2'), 20);
  assert.equal(majorOf('24.1.0'), 24);
});

test('Debian, its children and Ubuntu are known by their os-release', () => {
  assert.equal(distributionOf('NAME="Debian GNU/Linux"\nID=debian\n'), 'debian');
  assert.equal(distributionOf('ID=raspbian\nID_LIKE=debian\n'), 'debian');
  assert.equal(distributionOf('ID=linuxmint\nID_LIKE="ubuntu debian"\n'), 'ubuntu');
  assert.equal(distributionOf('ID="fedora"\n'), 'other');
  assert.equal(distributionOf(''), 'other');
});

test('the setting wins over what is installed', () => {
  const machine = { ...debian, env: { ...debian.env, CHROMIUM_PATH: '/my/chrome' } };
  const canRun = has('/my/chrome', '/usr/lib/chromium/chromium-headless-shell');
  assert.equal(locatePart('chromium', machine, canRun), '/my/chrome');
});

test('a setting that names no program is an error, not a search for another one', () => {
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

test('root on Debian installs all that is missing at once', () => {
  assert.deepEqual(packagesToInstall(['chromium', 'redis', 'ffmpeg'], debian), [
    'chromium-headless-shell',
    'redis-server',
    'ffmpeg',
  ]);
});

test('nothing is installed without root, elsewhere than on Debian, or where a part has no package', () => {
  assert.equal(packagesToInstall(['redis'], { ...debian, isRoot: false }), null);
  assert.equal(packagesToInstall(['redis'], { ...debian, distribution: 'other' }), null);
  assert.equal(packagesToInstall(['redis', 'chromium'], { ...debian, distribution: 'ubuntu' }), null);
});

test('one who is not root is told the command', () => {
  const lines = whatToType(['chromium', 'redis'], { ...debian, isRoot: false });
  assert.equal(
    lines[0]?.trim(),
    'sudo apt-get update && sudo apt-get install -y --no-install-recommends chromium-headless-shell redis-server',
  );
  assert.match(lines.join('\n'), /CHROMIUM_PATH/);
  assert.match(lines.join('\n'), /REDIS_URL/);
});

test('on a Mac it is brew, on another Linux the names of the things', () => {
  const mac = { ...debian, platform: 'darwin', distribution: 'other' as const };
  assert.equal(whatToType(['redis'], mac)[0]?.trim(), 'brew install redis');
  assert.match(whatToType(['redis'], { ...debian, distribution: 'other' })[0]!, /install Redis 7/);
});

test('on Ubuntu the packages are typed, and Chromium is installed by hand', () => {
  const lines = whatToType(['chromium', 'redis'], { ...debian, distribution: 'ubuntu' });
  assert.match(lines[0]!, /install -y --no-install-recommends redis-server$/);
  assert.match(lines[1]!, /install Chromium/);
});

test('a missing optional part stops nobody who cannot install it', () => {
  assert.equal(worthInstalling(['ffmpeg'], { ...debian, isRoot: false }), false);
  assert.equal(worthInstalling(['ffmpeg'], debian), true);
  assert.equal(worthInstalling(['ffmpeg', 'redis'], { ...debian, isRoot: false }), true);
  assert.equal(worthInstalling([], debian), false);
});

test('of a failed command the last lines with something in them are shown', () => {
  assert.deepEqual(tellingLines('a\nb\n\nc\n\n', 2), ['b', 'c']);
});

test('of a failed npm the cause is shown, which it says before its usage', () => {
  const output = 'npm warn old\nnpm error code EUSAGE\nnpm error\nnpm error not in sync\nnpm error Usage:\n';
  assert.deepEqual(tellingLines(output, 2), ['npm error code EUSAGE', 'npm error not in sync']);
});
