import { accessSync, constants, statSync } from 'node:fs';
import { locatePart, parts, wayTo, whatToType } from './decide.mjs';
import { runCommand } from './run-command.mjs';
import { SetupProblem } from './setup-problem.mjs';
import { say, showStep } from './show-step.mjs';
import { unpackPackages } from './unpack-packages.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */
/** @typedef {import('./decide.mjs').PartName} PartName */

/** Paths of the wanted parts; null for a missing one. @param {PartName[]} wanted @param {Machine} machine */
export function findParts(wanted, machine) {
  try {
    return new Map(wanted.map((name) => [name, locatePart(name, machine, canRun)]));
  } catch (error) {
    throw new SetupProblem(/** @type {Error} */ (error).message);
  }
}

/**
 * Installs the missing parts, or prints what to type. Optional parts may stay missing.
 *
 * Debian's redis-server package also starts a Redis on port 6379, which does not conflict: Adsweep starts a private one on a unix socket, with
 * a folder of its own.
 * @param {string} root @param {PartName[]} missing @param {Machine} machine
 */
export async function installParts(root, missing, machine) {
  refuseManualParts(missing, machine);
  for (const way of /** @type {const} */ (['install', 'unpack', 'unpack-debian'])) {
    const names = missing.filter((name) => wayTo(name, machine) === way);
    if (names.length > 0) await bring(root, way, names, machine);
  }
}

/** @param {string} root @param {'install' | 'unpack' | 'unpack-debian'} way @param {PartName[]} names @param {Machine} machine */
async function bring(root, way, names, machine) {
  const packages = names.map((name) => parts[name].debian);
  const label = `${way === 'install' ? 'packages' : 'packages, unpacked here:'} ${packages.join(', ')}`;
  try {
    await showStep(label, () =>
      way === 'install' ? aptInstall(root, packages) : unpackPackages(root, machine, packages, way === 'unpack-debian'),
    );
  } catch (error) {
    if (names.some((name) => !parts[name].optional) || !(error instanceof SetupProblem)) throw error;
    for (const line of [error.message, ...error.lines]) say(`  ${line}`);
  }
}

/** @param {string} root @param {string[]} packages */
async function aptInstall(root, packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const log = (/** @type {string} */ name) => ({ env, gentle: true, log: `${root}/.tools/log/apt-${name}.log` });
  const waitForLock = ['-o', 'DPkg::Lock::Timeout=300'];
  await runCommand('apt-get', ['update', '-q', ...waitForLock], log('update'));
  const install = ['install', '-y', '-q', '--no-install-recommends', ...waitForLock, ...packages];
  await runCommand('apt-get', install, log('install'));
}

/** @param {PartName[]} missing @param {Machine} machine */
function refuseManualParts(missing, machine) {
  const typed = missing.filter((name) => wayTo(name, machine) === 'type');
  const required = typed.filter((name) => !parts[name].optional);
  if (required.length === 0) return;
  const names = required.map((name) => parts[name].what).join(' and ');
  const problem = `this machine lacks ${names}. Type this, then run the same command again:`;
  throw new SetupProblem(problem, whatToType(typed, machine));
}

/** @param {string} file */
function canRun(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Missing, in an unreadable folder or not executable for us: we cannot run it.
    return false;
  }
}
