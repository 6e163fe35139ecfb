import { accessSync, constants, statSync } from 'node:fs';
import { locatePart, packagesToInstall, parts, whatToType } from './decide.mjs';
import { runCommand } from './run-command.mjs';
import { SetupProblem } from './setup-problem.mjs';
import { say, showStep } from './show-step.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */
/** @typedef {import('./decide.mjs').PartName} PartName */

/** Where the wanted parts are; null for one that is missing. @param {PartName[]} wanted @param {Machine} machine */
export function findParts(wanted, machine) {
  try {
    return new Map(wanted.map((name) => [name, locatePart(name, machine, canRun)]));
  } catch (error) {
    throw new SetupProblem(/** @type {Error} */ (error).message);
  }
}

/**
 * Brings the missing parts with apt-get where we may, else says what to type. Optional parts may stay missing.
 *
 * Debian's redis-server package also starts a Redis of its own on port 6379. It is left alone and does not get in the
 * way: Adsweep starts a private one on a unix socket, with its own folder.
 * @param {string} root @param {PartName[]} missing @param {Machine} machine
 */
export async function installParts(root, missing, machine) {
  const required = missing.filter((name) => !parts[name].optional);
  const packages = packagesToInstall(missing, machine);
  if (packages === null) return refuseWithout(required, missing, machine);
  try {
    await showStep(`Debian packages ${packages.join(', ')}`, () => aptInstall(root, packages));
  } catch (error) {
    if (required.length > 0 || !(error instanceof SetupProblem)) throw error;
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

/** @param {PartName[]} required @param {PartName[]} missing @param {Machine} machine */
function refuseWithout(required, missing, machine) {
  if (required.length === 0) return;
  const names = required.map((name) => parts[name].what).join(' and ');
  const typed = whatToType(missing, machine);
  throw new SetupProblem(`this machine lacks ${names}. Type this, then run the same command again:`, typed);
}

/** @param {string} file */
function canRun(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Missing, in a folder we may not read, or not ours to run: all the same to someone who wants to run it.
    return false;
  }
}
