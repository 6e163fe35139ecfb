import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { runCommand } from './run-command.mjs';
import { SetupProblem } from './setup-problem.mjs';
import { unpackedFolder, writeStarters } from './unpacked-programs.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */

/**
 * Downloads packages with their missing dependencies and unpacks them into the checkout, without root. apt checks signatures and checksums
 * as usual; it gets lists and a cache of its own, because the machine's belong to root.
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

/** apt options that select only Debian's packages, as on a machine with nothing installed. @param {string} root @param {string} state @param {Machine} machine */
async function fetchDebianSources(root, state, machine) {
  await download(root, state, ['download', '-q', ...packagesAboutDebian], []);
  await unpack(root, `${state}/about-debian`, archivesIn(state));
  rmSync(`${state}/archives`, { recursive: true });
  writeFileSync(`${state}/status`, '');
  writeFileSync(`${state}/debian.list`, debianSources(`${state}/about-debian`, machine.env.ADSWEEP_DEBIAN_MIRROR));
  const own = [`Dir::State::status=${state}/status`, `Dir::Etc::sourcelist=${state}/debian.list`];
  return [...own, 'Dir::Etc::sourceparts=/dev/null'].flatMap((option) => ['-o', option]);
}

/** The downloaded archives except the C library, whose version must match the machine's dynamic linker. @param {string} state */
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

/**
 * Packages of another distribution from which Debian's archive address (debootstrap) and keys are taken; that distribution has signed them.
 */
const packagesAboutDebian = ['debian-archive-keyring', 'debootstrap'];

/**
 * The lines of a sources.list for Debian's packages, from ADSWEEP_DEBIAN_MIRROR or else from debootstrap.
 * @param {string} folder with the unpacked `packagesAboutDebian` @param {string | undefined} mirror the setting
 */
function debianSources(folder, mirror) {
  const address = mirror || mirrorOfDebootstrap(readFileSync(`${folder}/usr/sbin/debootstrap`, 'utf8'));
  if (!/^https?:\/\/[^\s\]]+$/.test(address))
    throw new SetupProblem(`ADSWEEP_DEBIAN_MIRROR must be an address such as http://mirror.example/debian: ${address}`);
  const base = address.replace(/\/+$/, '');
  const signed = `deb [signed-by=${folder}/usr/share/keyrings/debian-archive-keyring.gpg]`;
  return `${signed} ${base} bookworm main\n${signed} ${base}-security bookworm-security main\n`;
}

/** @param {string} script the program debootstrap */
function mirrorOfDebootstrap(script) {
  const named = /^DEF_MIRROR="?([^"\n]+)"?$/m.exec(script)?.[1];
  if (named) return named;
  throw new SetupProblem("this machine's packages do not name Debian's archive. Set its address and run again:", [
    '  ADSWEEP_DEBIAN_MIRROR=http://mirror.example/debian',
  ]);
}
