import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './command.ts';

/** What a person types in answer to a question; nothing of it is shown if it is `secret`. Throws a `UsageError` where nobody can be asked. */
export async function ask(question: string, { secret = false } = {}): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) throw new UsageError('no key: set ADSWEEP_API_KEY, or run adsweep login');
  const output = secret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : stderr;
  const lines = createInterface({ input: stdin, output, terminal: true });
  const stop = new AbortController();
  lines.once('SIGINT', () => stop.abort());
  try {
    // Only now, when the terminal has stopped showing what is typed.
    if (secret) stderr.write(question);
    return (await lines.question(question, { signal: stop.signal })).trim();
  } catch (error) {
    if (stop.signal.aborted) throw new UsageError('stopped');
    throw error;
  } finally {
    lines.close();
    if (secret) stderr.write('\n');
  }
}
