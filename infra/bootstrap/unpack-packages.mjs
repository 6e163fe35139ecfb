import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { runCommand } from './run-command.mjs';
import { unpackedFolder, writeStarters } from './unpacked-programs.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */

/** Debian's packages for machines whose own distribution has none; its keyring comes from the machine's distribution. */
const debianSources = (
  /** @type {string} */ keyring,
) => `deb [signed-by=${keyring}] http://deb.debian.org/debian bookworm main
deb [signed-by=${keyring}] http://deb.debian.org/debian-security bookworm-security main
`;

/**
 * Downloads packages with all that they need and is not installed here, and unpacks them into the checkout: no root
 * needed. apt checks signatures and checksums as ever; it gets its own lists and cache, for the machine's are root's.
 * @param {string} root @param {Machine} machine @param {string[]} packages @param {boolean} fromDebian
 */
export async function unpackPackages(root, machine, packages, fromDebian) {
  const folder = unpackedFolder(root, machine, fromDebian);
  const state = `${root}/.tools/apt.partial`;
  rmSync(state, { recursive: true, force: true });
  await download(root, state, fromDebian ? ['--reinstall', 'debian-archive-keyring'] : packages, []);
  if (fromDebian) {
    await unpack(root, `${state}/keyring`, archivesIn(state));
    rmSync(`${state}/archives`, { recursive: true });
    await download(root, state, packages, debianOnly(state));
  }
  await unpack(root, folder, archivesIn(state));
  writeStarters(folder, packages);
  rmSync(state, { recursive: true, force: true });
}

/** @param {string} root @param {string} state @param {string[]} packages @param {string[]} options */
async function download(root, state, packages, options) {
  for (const path of ['lists/partial', 'archives/partial']) mkdirSync(`${state}/${path}`, { recursive: true });
  const own = { 'Dir::State::lists': 'lists', 'Dir::Cache': '', 'Dir::Cache::archives': 'archives' };
  const set = Object.entries(own).flatMap(([name, path]) => ['-o', `${name}=${state}/${path}`]);
  const apt = [...set, '-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=', ...options];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const log = (/** @type {string} */ name) => ({ env, log: `${root}/.tools/log/apt-${name}.log` });
  await runCommand('apt-get', [...apt, 'update', '-q'], log('update'));
  const get = ['install', '--download-only', '-y', '-q', '--no-install-recommends', ...packages];
  await runCommand('apt-get', [...apt, ...get], log('download'));
}

/** Options that show apt Debian's packages alone, on a machine that has none of them installed. @param {string} state */
function debianOnly(state) {
  writeFileSync(`${state}/status`, '');
  writeFileSync(
    `${state}/debian.list`,
    debianSources(`${state}/keyring/usr/share/keyrings/debian-archive-keyring.gpg`),
  );
  const own = ['Dir::State::status=status', 'Dir::Etc::sourcelist=debian.list'];
  const set = own.map((option) => option.replace('=', `=${state}/`));
  return [...set, 'Dir::Etc::sourceparts=/dev/null'].flatMap((option) => ['-o', option]);
}

/** The downloaded archives, but for the C library: its version has to be that of the machine's dynamic linker. @param {string} state */
function archivesIn(state) {
  return readdirSync(`${state}/archives`)
    .filter((name) => name.endsWith('.deb') && !name.startsWith('libc6_'))
    .map((name) => `${state}/archives/${name}`);
}

/** @param {string} root @param {string} folder @param {string[]} archives */
async function unpack(root, folder, archives) {
  mkdirSync(folder, { recursive: true });
  const script = 'for archive do dpkg-deb -x "$archive" "$0"; done';
  await runCommand('sh', ['-ec', script, folder, ...archives], { log: `${root}/.tools/log/unpack.log` });
}
