import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { isNodeRecentEnough, wantedNodeMajor } from './decide.mjs';
import { runCommand } from './run-command.mjs';
import { SetupProblem } from './setup-problem.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */

/** The Node.js that runs everything; `home` is null if it is the current process' own. @typedef {{ program: string, home: string | null }} Node24 */

/** The installed Node.js, or null. @param {string} root @param {Machine} machine @returns {Node24 | null} */
export function findNode(root, machine) {
  if (isNodeRecentEnough(machine.nodeVersion)) return { program: process.execPath, home: null };
  const home = homeOf(root);
  const program = `${home}/bin/node`;
  if (!existsSync(program) || !existsSync(`${home}/package.json`)) return null;
  const { name, version } = JSON.parse(readFileSync(`${home}/package.json`, 'utf8'));
  // The checkout may have been copied to another kind of machine with its .tools, or require another version by now.
  const wanted = nodePackageFor(machine);
  return name === wanted?.name && version === wanted?.version ? { program, home } : null;
}

/**
 * Downloads Node.js 24 from the npm registry to `.tools/node24`. The package contains the program and the headers that native modules
 * compile against. The archive is unpacked only if its hash matches, and moved into place when it is complete. @param {string} root @param {Machine} machine @param {NodePackage | null} [wanted]
 * @returns {Promise<Node24>}
 */
export async function bringNode(root, machine, wanted = nodePackageFor(machine)) {
  if (wanted === null)
    throw new SetupProblem(
      `there is no packaged Node.js ${wantedNodeMajor} for ${machine.platform} on ${machine.arch}. Install it yourself, then run the same command again:`,
      [
        machine.platform === 'darwin'
          ? `  brew install node@${wantedNodeMajor}`
          : `  see https://nodejs.org/en/download`,
      ],
    );
  const partial = `${root}/.tools/node24.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(`${partial}/unpacked`, { recursive: true });
  const npm = npmCommand(machine.env, process.execPath);
  const spec = `${wanted.name}@${wanted.version}`;
  const pack = [...npm.args, 'pack', '--loglevel=error', spec, '--pack-destination', partial];
  await runCommand(npm.command, pack, { cwd: root, log: `${root}/.tools/log/node-download.log` });
  const archive = `${partial}/${readdirSync(partial).find((file) => file.endsWith('.tgz'))}`;
  verifyArchive(archive, wanted);
  const unpack = ['-xzf', archive, '-C', `${partial}/unpacked`, '--strip-components=1'];
  await runCommand('tar', unpack, { log: `${root}/.tools/log/node-unpack.log` });
  await runCommand(`${partial}/unpacked/bin/node`, ['--version'], { log: `${root}/.tools/log/node-try.log` });
  const home = homeOf(root);
  rmSync(home, { recursive: true, force: true });
  renameSync(`${partial}/unpacked`, home);
  rmSync(partial, { recursive: true, force: true });
  return { program: `${home}/bin/node`, home };
}

/** The command line of the npm that called us, run by a given Node.js; otherwise the npm in PATH. @param {Machine['env']} env @param {string} node */
export function npmCommand(env, node) {
  const cli = env.npm_execpath;
  return cli?.endsWith('npm-cli.js') ? { command: node, args: [cli] } : { command: 'npm', args: [] };
}

/** @param {string} root */
function homeOf(root) {
  return `${root}/.tools/node24`;
}

/** An npm package that contains Node.js; `integrity`: SRI, "sha512-<base64>". @typedef {{ name: string, version: string, integrity: string }} NodePackage */

/** The packages that this checkout trusts, by platform and architecture. @type {Record<string, NodePackage>} */
export const nodePackages = JSON.parse(readFileSync(new URL('./node-packages.json', import.meta.url), 'utf8'));

/** The package for a platform and architecture, or null if none is published. @param {{ platform: string, arch: string }} machine */
export function nodePackageFor({ platform, arch }) {
  return nodePackages[`${platform}-${arch}`] ?? null;
}

/** Throws a SetupProblem unless the archive has the expected hash. @param {string} file @param {NodePackage} expected */
function verifyArchive(file, { name, version, integrity }) {
  const actual = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (actual === integrity) return;
  throw new SetupProblem(
    `the download of ${name}@${version} is not the package that this checkout names; it was not used`,
    [
      `  expected ${integrity}`,
      `  got      ${actual}`,
      'Try again; if it stays so, your npm registry or a proxy on the way serves a changed package.',
    ],
  );
}
