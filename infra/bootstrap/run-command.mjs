import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { causeLines } from './decide.mjs';
import { sameKeypressMs, signalQuietly } from './process-group.mjs';
import { Interrupted, SetupProblem } from './setup-problem.mjs';
import { say } from './show-step.mjs';

const stopSignals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** How long a command may take to end after SIGTERM; npm would otherwise continue its downloads. */
const graceMs = 1_000;

/**
 * Runs one command of the set-up with its output in a log file, whose relevant lines are shown if it fails.
 *
 * The command gets a process group of its own, so that Ctrl-C reaches it once, through us.
 * @param {string} command @param {string[]} args
 * @param {{ log: string, cwd?: string, env?: NodeJS.ProcessEnv, gentle?: boolean }} options `gentle`: see `stopGently`
 * @returns {Promise<void>}
 */
export async function runCommand(command, args, options) {
  mkdirSync(dirname(options.log), { recursive: true });
  const log = openSync(options.log, 'w');
  const { cwd, env = process.env } = options;
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  /** @type {{ by: NodeJS.Signals | null, at: number }} */
  const stopped = { by: null, at: 0 };
  const stop = (/** @type {NodeJS.Signals} */ signal) => {
    if (child.pid === undefined) return;
    if (stopped.by === null) {
      Object.assign(stopped, { by: signal, at: Date.now() });
      if (options.gentle) stopGently(child.pid, command);
      else stopSoon(child.pid);
    } else if (Date.now() - stopped.at > sameKeypressMs) signalQuietly(-child.pid, 'SIGKILL');
  };
  for (const signal of stopSignals) process.on(signal, stop);
  const outcome = await ended(child);
  for (const signal of stopSignals) process.off(signal, stop);
  if (stopped.by !== null) throw new Interrupted(stopped.by);
  if (outcome !== 'exit 0') throw failure(command, args, outcome, options.log);
}

/** @param {number} group */
function stopSoon(group) {
  signalQuietly(-group, 'SIGTERM');
  setTimeout(() => signalQuietly(-group, 'SIGKILL'), graceMs).unref();
}

/** Signals only the command and not its children: apt-get then completes a half-written package instead of leaving dpkg broken. @param {number} pid @param {string} command */
function stopGently(pid, command) {
  say(`\n  ${command} completes what it has begun, then all stops (CTRL-C again: stop at once)`);
  signalQuietly(pid, 'SIGINT');
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<string>} */
function ended(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit ${code}`));
  });
}

/** @param {string} command @param {string[]} args @param {string} outcome @param {string} log */
function failure(command, args, outcome, log) {
  const typed = [command, ...args].join(' ');
  const seen = causeLines(readFileSync(log, 'utf8'), 15).map((line) => `  ${line}`);
  return new SetupProblem(`"${typed}" failed (${outcome})`, [...seen, `The whole output: ${log}`]);
}
