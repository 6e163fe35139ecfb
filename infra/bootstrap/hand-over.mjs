import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { endGroup, sameKeypressMs } from './process-group.mjs';

const stopSignals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
const stragglersMs = 2_000;

/**
 * Runs the verb's program in this terminal and ends as it ends.
 *
 * It has a process group of its own. A CTRL-C in a terminal goes to every process of a group, and npm passes its own
 * copy on; the program would see two or three and take the second for "stop at once". So it sees those that we pass on,
 * one per keypress. What it leaves behind in its group after a stop is ended too.
 * @param {string} node @param {string[]} args @param {NodeJS.ProcessEnv} env @returns {Promise<number>} the exit code
 */
export async function handOver(node, args, env) {
  const follow = new URL('./follow-parent.mjs', import.meta.url).href;
  const child = spawn(node, ['--import', follow, ...args], {
    env,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  let lastPassedOn = 0;
  let stopping = false;
  const passOn = (/** @type {NodeJS.Signals} */ signal) => {
    if (Date.now() - lastPassedOn < sameKeypressMs) return;
    lastPassedOn = Date.now();
    stopping = true;
    child.kill(signal);
  };
  for (const signal of stopSignals) process.on(signal, passOn);
  const watch = followNpm(env, () => passOn('SIGTERM'));
  const code = await exitCode(child);
  clearInterval(watch);
  if (stopping && child.pid !== undefined) await endGroup(child.pid, stragglersMs);
  return code;
}

/**
 * An npm that is killed outright passes nothing on; its script then has another parent.
 * @param {NodeJS.ProcessEnv} env @param {() => void} gone
 */
function followNpm(env, gone) {
  const npm = process.ppid;
  if (env.npm_lifecycle_event === undefined) return undefined;
  return setInterval(() => process.ppid !== npm && gone(), 500).unref();
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<number>} */
function exitCode(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}
