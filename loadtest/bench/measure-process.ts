import { type ChildProcess, spawn } from 'node:child_process';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import type { Measurement } from './measured-farm.ts';

/**
 * Runs a script that loads pages: it sends a message when it has started, begins when it gets one back, and reports how long it took in
 * `seconds`. The start is not measured.
 */
export async function measureProcess(script: string, args: string[]): Promise<Measurement> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = new Promise((done) => child.once('exit', done));
  const cpu = () => cpuSecondsOfTree(child.pid ?? 0);
  await word(child);
  const before = cpu();
  child.send('go');
  const { seconds = 0 } = await word(child);
  const after = cpu();
  child.send('end');
  await ended;
  return { seconds, cpu: after - before };
}

/** The next message of a child process; rejects if the process exits first. */
function word(child: ChildProcess): Promise<{ seconds?: number }> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as { seconds?: number }));
    child.once('exit', (code) => reject(new Error(`the loop ended with ${code}`)));
  });
}

/** For a measured script: sends a message to the parent and waits for its reply, or for the end of the parent. */
export function exchange(word: { seconds?: number }): Promise<void> {
  process.send?.(word);
  return new Promise((resolve) => {
    process.once('message', () => resolve());
    process.once('disconnect', () => resolve());
  });
}
