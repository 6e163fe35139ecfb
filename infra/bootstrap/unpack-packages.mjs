import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { debianSources, packagesAboutDebian } from './debian-archive.mjs';
import { runCommand } from './run-command.mjs';
import { unpackedFolder, writeStarters } from './unpacked-programs.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */

/**
 * Downloads packages with all that they need and is not installed here, and unpacks them into the checkout: no root
 * needed. apt checks signatures and checksums as ever; it gets its own lists and cache, for the machine's are root's.
 * @param {string} root @param {Machine} machine @param {string[]} packages @param {boolean} fromDebian
 */
export async function unpackPackages(root, machine, packages, fromDebian) {
  const folder = unpackedFolder(root, machine, fromDebian);
  const state = `${root}/.tools/apt.partial`;
  rmSync(state, { recursive: true, force: true });
  const sources = fromDebian ? await fetchDebianSources(root, state, machine) : [];
  const withDependencies = ['install', '--download-only', '-y', '-q', '--no-install-recommends'];
  await download(root, state, [...withDependencies, ...packages], sources);
  await unpack(root, folder, archivesIn(state));
  writeStarters(folder, packages);
  rmSync(state, { recursive: true, force: true });
}

/** @param {string} root @param {string} state @param {string[]} get @param {string[]} options */
async function download(root, state, get, options) {
  for (const path of ['lists/partial', 'archives/partial']) mkdirSync(`${state}/${path}`, { recursive: true });
  const own = { 'Dir::State::lists': 'lists', 'Dir::Cache': '', 'Dir::Cache::archives': 'archives' };
  const set = Object.entries(own).flatMap(([name, path]) => ['-o', `${name}=${state}/${path}`]);
  const apt = [...set, '-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=', ...options];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (/** @type {string} */ name) => ({
    env,
    cwd: `${state}/archives`,
    log: `${root}/.tools/log/apt-${name}.log`,
  });
  await runCommand('apt-get', [...apt, 'update', '-q'], run('update'));
  await runCommand('apt-get', [...apt, ...get], run('download'));
}

/** Options that show apt Debian's packages alone, on a machine that has none of them installed. @param {string} root @param {string} state @param {Machine} machine */
async function fetchDebianSources(root, state, machine) {
  await download(root, state, ['download', '-q', ...packagesAboutDebian], []);
  await unpack(root, `${state}/about-debian`, archivesIn(state));
  rmSync(`${state}/archives`, { recursive: true });
  writeFileSync(`${state}/status`, '');
  writeFileSync(`${state}/debian.list`, debianSources(`${state}/about-debian`, machine.env.ADSWEEP_DEBIAN_MIRROR));
  const own = [`Dir::State::status=${state}/status`, `Dir::Etc::sourcelist=${state}/debian.list`];
  return [...own, 'Dir::Etc::sourceparts=/dev/null'].flatMap((option) => ['-o', option]);
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
