import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { endGroup } from '../bootstrap/process-group.mjs';
import { processorTime } from './group-tests.ts';
import { overdue } from './report-run.ts';

/**
 * Preloaded (`--import .../limit-test-file.ts?ms=<limit>&browser=<yes or no>`) into the process that Node.js's runner
 * starts for a test file. The file runs in a child process that leads a process group: at the limit the group is killed,
 * even if the file blocks its event loop or has left a child that holds its output open. This process never loads the
 * file, so nothing in the file can delay it.
 */

const parameters = new URL(import.meta.url).searchParams;
const limitMs = Number(parameters.get('ms'));
/** Only `*.e2e.test.ts` have the time and the memory for a browser, so no other file may start one: CHROMIUM_PATH names none for them. */
const noBrowser = { CHROMIUM_PATH: '/only files named *.e2e.test.ts may start a browser' };
const graceMs = 1_500;
/** How long to wait for the last output; a process outside the group can hold the pipe open. */
const drainMs = 500;

const options = process.execArgv.filter(
  (_, index, all) => !isThisPreload(all[index]) && !isThisPreload(all[index + 1]),
);
const child = spawn(process.execPath, [...options, ...process.argv.slice(1)], {
  stdio: ['ignore', 'pipe', 'pipe'],
  detached: true,
  env: parameters.get('browser') === 'no' ? { ...process.env, ...noBrowser } : process.env,
});
child.stdout.pipe(process.stdout);
child.stderr.pipe(process.stderr);
const closed = once(child, 'close');

function isThisPreload(option: string | undefined): boolean {
  return option?.endsWith(import.meta.url) === true;
}

/** Resolves, with the reason, when the file has to be killed. */
function timeLimitReached(): Promise<string> {
  const runner = process.ppid;
  return new Promise((resolve) => {
    setTimeout(() => resolve(`${overdue}${limitMs / 1000} s: ended with every process it started`), limitMs);
    setInterval(() => process.ppid !== runner && resolve('the test run was killed'), 500);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(`stopped by ${signal}`));
  });
}

/** Prints the processor time of the file and of the processes that it started and waited for; the report of the run reads it. Linux only. */
function printProcessorTime(): void {
  if (process.platform !== 'linux') return;
  // The fields after the name, which is in parentheses: cutime and cstime (proc(5)), in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  process.stderr.write(`${processorTime}${(Number(fields[13]) + Number(fields[14])) / 100} s\n`);
}

async function exitCode(): Promise<number> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal ? 128 + constants.signals[signal] : (code ?? 1);
}

const outcome = await Promise.race([exitCode(), timeLimitReached()]);
if (typeof outcome === 'string') process.stderr.write(`${outcome}\n`);
await endGroup(child.pid!, graceMs);
printProcessorTime();
await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, drainMs))]);
process.exit(typeof outcome === 'string' ? 1 : outcome);
