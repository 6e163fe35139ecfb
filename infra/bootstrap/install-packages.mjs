import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { npmCommand } from './bring-node.mjs';
import { wantedNodeMajor } from './decide.mjs';
import { runCommand } from './run-command.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */

/** Whether node_modules is what the lock file asks for, judged by the stamp of the last `npm ci` that went well. @param {string} root @param {Machine} machine */
export function packagesAreInstalled(root, machine) {
  const stamp = stampOf(root);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(root, machine);
}

/**
 * `npm ci` with Node.js 24: under an older one npm quietly picks older majors of packages that ask for a newer Node.js.
 * @param {string} root @param {Machine} machine @param {import('./bring-node.mjs').Node24} node @param {NodeJS.ProcessEnv} env
 */
export async function installPackages(root, machine, node, env) {
  const npm = npmCommand(machine.env, node.program);
  // Only here: npm itself does not know this setting and says so at every start, node-gyp needs it.
  const headers = node.home === null ? {} : { npm_config_nodedir: node.home };
  await runCommand(npm.command, [...npm.args, 'ci', '--include=dev', '--no-audit', '--no-fund'], {
    cwd: root,
    // An npm older than 11 does not know `allowScripts`; this keeps the one refused install script quiet there too.
    env: { ...env, ...headers, SCARF_ANALYTICS: 'false' },
    log: `${root}/.tools/log/npm-ci.log`,
  });
  writeFileSync(stampOf(root), fingerprint(root, machine));
}

/** `npm ci` begins by removing node_modules, and with it the stamp: an interrupted one leaves none. @param {string} root */
function stampOf(root) {
  return `${root}/node_modules/.installed-from`;
}

/** @param {string} root @param {Machine} machine */
function fingerprint(root, machine) {
  const lock = createHash('sha256').update(readFileSync(`${root}/package-lock.json`));
  return `${lock.digest('hex')} node-${wantedNodeMajor} ${machine.platform}-${machine.arch}\n`;
}
