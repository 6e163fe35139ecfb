import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { tellingLines } from './decide.mjs';
import { Interrupted, SetupProblem } from './setup-problem.mjs';

const stopSignals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Runs one command of the set-up with its output in a log file, whose telling lines are shown when it fails.
 *
 * The command gets a process group of its own, so that a CTRL-C reaches it once and through us: the first one asks it
 * to end and waits, the second one kills the whole group. `gentle` asks the command alone and not its children: apt-get
 * then completes a half-written package instead of leaving dpkg broken.
 *
 * @param {string} command @param {string[]} args
 * @param {{ log: string, cwd?: string, env?: NodeJS.ProcessEnv, gentle?: boolean }} options
 * @returns {Promise<void>}
 */
export async function runCommand(command, args, options) {
  mkdirSync(dirname(options.log), { recursive: true });
  const log = openSync(options.log, 'w');
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  /** @type {{ signal: NodeJS.Signals, at: number } | null} */
  let stopped = null;
  const stop = (/** @type {NodeJS.Signals} */ signal) => {
    if (child.pid === undefined) return;
    if (stopped === null) {
      stopped = { signal, at: Date.now() };
      signalQuietly(options.gentle ? child.pid : -child.pid, options.gentle ? 'SIGINT' : 'SIGTERM');
    } else if (Date.now() - stopped.at > sameKeypressMs) signalQuietly(-child.pid, 'SIGKILL');
  };
  for (const signal of stopSignals) process.on(signal, stop);
  try {
    const outcome = await ended(child);
    if (stopped !== null) throw new Interrupted(/** @type {{ signal: NodeJS.Signals }} */ (stopped).signal);
    if (outcome !== 'exit 0') throw failure(command, args, outcome, options.log);
  } finally {
    for (const signal of stopSignals) process.off(signal, stop);
  }
}

/** A terminal, npm and a shell may each pass the same CTRL-C on to us; within this time they are one. */
export const sameKeypressMs = 400;

/** Sends a signal to a process or, with a negative id, to a group that may have ended in the meantime. @param {number} pid @param {NodeJS.Signals} signal */
export function signalQuietly(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
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
  const seen = tellingLines(readFileSync(log, 'utf8'), 15).map((line) => `  ${line}`);
  return new SetupProblem(`"${typed}" failed (${outcome})`, [...seen, `The whole output: ${log}`]);
}
