import { type ChildProcess, spawn } from 'node:child_process';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import type { Turn } from './measured-farm.ts';

/**
 * Runs a script that loads pages: it says a word when it has started, begins with the answer, and says in `seconds` how long it took.
 * What starting costs is not counted.
 */
export async function processTurn(script: string, args: string[]): Promise<Turn> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const gone = new Promise((done) => child.once('exit', done));
  const cpu = () => cpuSecondsOfTree(child.pid ?? 0);
  await word(child);
  const before = cpu();
  child.send('go');
  const { seconds = 0 } = await word(child);
  const after = cpu();
  child.send('end');
  await gone;
  return { seconds, cpu: after - before };
}

/** The next message of a child process; an error when it ends first. */
function word(child: ChildProcess): Promise<{ seconds?: number }> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as { seconds?: number }));
    child.once('exit', (code) => reject(new Error(`the loop ended with ${code}`)));
  });
}

/** In a script that is measured: says a word to the parent and waits for its answer, or its end. */
export function exchange(word: { seconds?: number }): Promise<void> {
  process.send?.(word);
  return new Promise((resolve) => {
    process.once('message', () => resolve());
    process.once('disconnect', () => resolve());
  });
}
