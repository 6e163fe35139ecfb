import { type ChildProcess, spawn } from 'node:child_process';
import { type CpuByKind, cpuBetween, cpuByKind, sumOf } from './process-kinds.ts';

/** The duration of a round in seconds, and the CPU seconds of all processes that took part. */
export type Measurement = { seconds: number; cpu: number; byKind: CpuByKind };

/**
 * Runs a script that works off something: it sends a message when it begins what is measured, and reports how long it took in `seconds`.
 * A script that waits for the reply to its first message begins when it has it. Rejects when the script fails.
 */
export async function measureProcess(script: string, args: string[]): Promise<Measurement> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  await word(child);
  const before = cpuByKind(child.pid ?? 0);
  child.send('go');
  const { seconds = 0 } = await word(child);
  const byKind = cpuBetween(before, cpuByKind(child.pid ?? 0));
  child.send('end');
  const code = await ended;
  if (code !== 0) throw new Error(`${script} ended with ${code}`);
  return { seconds, cpu: sumOf(byKind), byKind };
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
