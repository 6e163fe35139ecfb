import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { Machine } from '../decide.mjs';
import { unpackPackages } from '../unpack-packages.mjs';

const path = process.env.PATH;
let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'adsweep-unpack-'));
  mkdirSync(join(root, 'stand-in'));
  process.env.PATH = `${root}/stand-in${delimiter}${path}`;
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(root, { recursive: true, force: true });
});

const user: Machine = {
  platform: 'linux',
  arch: 'x64',
  nodeVersion: 'v24.6.0',
  distribution: 'debian',
  release: 'debian-12',
  isRoot: false,
  env: {},
};

function program(name: string, script: string): void {
  writeFileSync(join(root, 'stand-in', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Packages of Ubuntu's that say where Debian's archive is, as the real debootstrap does. */
const ABOUT_DEBIAN = {
  debootstrap_1_all: ['usr/sbin/debootstrap', '#!/bin/sh\nDEF_MIRROR="http://archive.example/debian"\n'],
};

/** An apt-get whose packages are a Redis that prints where its libraries are, a library, a C library and `others`. */
function packagesOfRedis(others: Record<string, string[]> = {}): void {
  const files = {
    ...others,
    'redis-server_7_amd64': ['usr/bin/redis-server', '#!/bin/sh\necho "$LD_LIBRARY_PATH $1"\n'],
    libpulse0_16_amd64: ['usr/lib/x86_64-linux-gnu/pulseaudio/libpulsecommon-16.1.so', ''],
    libc6_2_amd64: ['lib/x86_64-linux-gnu/libc.so.6', ''],
  };
  for (const [name, [file, text]] of Object.entries(files)) {
    const folder = join(root, 'made', name);
    mkdirSync(join(folder, file!, '..'), { recursive: true });
    writeFileSync(join(folder, file!), text!, { mode: 0o755 });
    execFileSync('tar', ['-cf', join(root, 'made', `${name}.deb`), '-C', folder, '.']);
  }
  program(
    'apt-get',
    `echo "$@" >>${root}/asked\ncase "$*" in *download*) cp ${root}/made/*.deb ${archives()}; cp ${archives()}/../debian.list ${root} || :;; esac`,
  );
  program('dpkg-deb', 'tar -xf "$2" -C "$3"');
}

const archives = () => join(root, '.tools/apt.partial/archives');
const home = () => join(root, '.tools/debian-12-x64');

test('unpacked packages start with their own libraries, also after the checkout has moved', async () => {
  packagesOfRedis();
  await unpackPackages(root, user, ['redis-server'], false);
  const moved = join(root, 'moved here');
  renameSync(home(), moved);
  const said = execFileSync(join(moved, 'bin/redis-server'), ['--port'], { encoding: 'utf8' });
  const libraries = join(moved, 'usr/lib/x86_64-linux-gnu');
  assert.equal(said, `${libraries}:${libraries}/pulseaudio --port\n`);
});

test("the machine's C library is used, and only the packages are left on the disk", async () => {
  packagesOfRedis();
  await unpackPackages(root, user, ['redis-server'], false);
  assert.equal(existsSync(join(home(), 'lib')), false);
  assert.deepEqual(readdirSync(join(root, '.tools')).sort(), ['debian-12-x64', 'log']);
});

test("apt uses lists and a cache of the checkout, the machine's sources, and checks signatures as usual", async () => {
  packagesOfRedis();
  await unpackPackages(root, user, ['redis-server'], false);
  const asked = readFileSync(join(root, 'asked'), 'utf8');
  assert.equal(asked.trim().split('\n').length, 2);
  assert.match(asked, /Dir::State::lists=\S+apt\.partial\/lists .*update/);
  assert.doesNotMatch(asked, /unauthenticated|insecure|trusted=|Dir::Etc/i);
});

test('an error of apt is printed, and the part still counts as missing', async () => {
  packagesOfRedis();
  program('apt-get', 'echo "E: Hash Sum mismatch"; exit 100');
  await assert.rejects(unpackPackages(root, user, ['redis-server'], false), (error: { lines: string[] }) =>
    error.lines.join().includes('Hash Sum mismatch'),
  );
  assert.equal(existsSync(join(home(), 'bin')), false);
});

const ubuntu: Machine = { ...user, distribution: 'ubuntu', release: 'ubuntu-24.04' };
/** The list that apt was given at the last download. */
const sourcesOfDebian = () => readFileSync(join(root, 'debian.list'), 'utf8');

test("on Ubuntu Chromium comes from Debian's signed packages, with the keyring and address from Ubuntu's own packages", async () => {
  packagesOfRedis(ABOUT_DEBIAN);
  await unpackPackages(root, ubuntu, ['redis-server'], true);
  const asked = readFileSync(join(root, 'asked'), 'utf8').trim().split('\n');
  assert.match(asked[1]!, /download -q debian-archive-keyring debootstrap$/);
  assert.ok(existsSync(join(root, '.tools/ubuntu-24.04-x64-from-debian/bin/redis-server')));
  assert.match(asked[3]!, /sourceparts=\/dev\/null .*redis-server$/);
  assert.deepEqual(
    sourcesOfDebian()
      .trim()
      .replaceAll(/signed-by=\S+\/(?=debian)/g, '')
      .split('\n'),
    [
      'deb [debian-archive-keyring.gpg] http://archive.example/debian bookworm main',
      'deb [debian-archive-keyring.gpg] http://archive.example/debian-security bookworm-security main',
    ],
  );
});

test("a configured mirror is used for Debian's packages", async () => {
  packagesOfRedis(ABOUT_DEBIAN);
  const set = (mirror: string): Machine => ({ ...ubuntu, env: { ADSWEEP_DEBIAN_MIRROR: mirror } });
  await unpackPackages(root, set('https://mirror.example/debian/'), ['redis-server'], true);
  assert.match(sourcesOfDebian(), / https:\/\/mirror\.example\/debian bookworm main$/m);
  const refused = unpackPackages(root, set('mirror.example] http://other.example'), ['redis-server'], true);
  await assert.rejects(refused, /ADSWEEP_DEBIAN_MIRROR must be an address/);
});

test("if no package names Debian's archive, the error names the setting", async () => {
  packagesOfRedis({ debootstrap_2_all: ['usr/sbin/debootstrap', '#!/bin/sh\n'] });
  await assert.rejects(unpackPackages(root, ubuntu, ['redis-server'], true), (error: { lines: string[] }) =>
    error.lines.join().includes('ADSWEEP_DEBIAN_MIRROR=http'),
  );
});
