import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { endGroup, sameKeypressMs } from './process-group.mjs';

const stopSignals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
const stragglersMs = 2_000;

/**
 * Runs the verb's program in this terminal and returns its exit code.
 *
 * The program has a process group of its own. A terminal sends Ctrl-C to every process of a group, and npm forwards its own copy: the
 * program would receive two or three and treat the second as "stop at once". It receives only those that we forward, one per keypress.
 * After a stop, processes left in its group are killed too.
 * @param {string} node @param {string[]} args @param {NodeJS.ProcessEnv} env @returns {Promise<number>} the exit code
 */
export async function handOver(node, args, env) {
  const follow = new URL('./follow-parent.mjs', import.meta.url).href;
  const child = spawn(node, ['--import', follow, ...args], {
    env,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  let lastForwarded = 0;
  let stopping = false;
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    if (Date.now() - lastForwarded < sameKeypressMs) return;
    lastForwarded = Date.now();
    stopping = true;
    child.kill(signal);
  };
  for (const signal of stopSignals) process.on(signal, forward);
  const watch = followNpm(env, () => forward('SIGTERM'));
  const code = await exitCode(child);
  clearInterval(watch);
  if (stopping && child.pid !== undefined) await endGroup(child.pid, stragglersMs);
  return code;
}

/**
 * Detects a killed npm, which forwards no signal: the parent of its script changes.
 * @param {NodeJS.ProcessEnv} env @param {() => void} onEnd
 */
function followNpm(env, onEnd) {
  const npm = process.ppid;
  if (env.npm_lifecycle_event === undefined) return undefined;
  return setInterval(() => process.ppid !== npm && onEnd(), 500).unref();
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<number>} */
function exitCode(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}
