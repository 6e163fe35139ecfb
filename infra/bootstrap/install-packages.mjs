import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { npmCommand } from './bring-node.mjs';
import { wantedNodeMajor } from './decide.mjs';
import { runCommand } from './run-command.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */

/** Whether node_modules matches the lock file, by the stamp of the last successful `npm ci`. @param {string} root @param {Machine} machine */
export function packagesAreInstalled(root, machine) {
  const stamp = stampOf(root);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(root, machine);
}

/**
 * `npm ci` with Node.js 24: with an older one, npm silently picks older majors of packages that require a newer Node.js.
 * @param {string} root @param {Machine} machine @param {import('./bring-node.mjs').Node24} node @param {NodeJS.ProcessEnv} env
 */
export async function installPackages(root, machine, node, env) {
  const npm = npmCommand(machine.env, node.program);
  // Only here: node-gyp needs this setting, but npm warns about it at every start.
  const headers = node.home === null ? {} : { npm_config_nodedir: node.home };
  await runCommand(npm.command, [...npm.args, 'ci', '--include=dev', '--no-audit', '--no-fund'], {
    cwd: root,
    // npm before 11 does not know `allowScripts`; this disables the one refused install script there too.
    env: { ...env, ...headers, SCARF_ANALYTICS: 'false' },
    log: `${root}/.tools/log/npm-ci.log`,
  });
  writeFileSync(stampOf(root), fingerprint(root, machine));
}

/** `npm ci` first removes node_modules with the stamp, so that an interrupted one leaves none. @param {string} root */
function stampOf(root) {
  return `${root}/node_modules/.installed-from`;
}

/** @param {string} root @param {Machine} machine */
function fingerprint(root, machine) {
  const lock = createHash('sha256').update(readFileSync(`${root}/package-lock.json`));
  return `${lock.digest('hex')} node-${wantedNodeMajor} ${machine.platform}-${machine.arch}\n`;
}
