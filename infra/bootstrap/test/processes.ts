import { existsSync, readFileSync } from 'node:fs';

/** On Linux a process that has ended, but whose new parent has not asked about it yet (state Z), is gone for us. */
function isAlive(pid: number): boolean {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

export async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Resolves with the text of a file as soon as it has any. */
export async function untilFilled(file: string): Promise<string> {
  while (!existsSync(file) || readFileSync(file, 'utf8') === '')
    await new Promise((resolve) => setTimeout(resolve, 10));
  return readFileSync(file, 'utf8');
}
