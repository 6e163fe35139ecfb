import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { UsageError } from './command.ts';

/** The text of a file, or of `stdin` for `-`, without the byte order mark that editors on Windows begin files with. `hint`: what else a person may have meant. */
export async function readText(path: string, hint = ''): Promise<string> {
  try {
    const whole = path === '-' ? await readStdin() : readFileSync(path, 'utf8');
    return whole.replace(/^\ufeff/, '');
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}${hint}`);
  }
}

/**
 * A synchronous read of a pipe that does not block, as another program may leave it, fails while its writer is slow. A terminal is not read as a
 * stream: a key could not be asked for after its end.
 */
const readStdin = async (): Promise<string> => (isatty(0) ? readFileSync(0, 'utf8') : text(process.stdin));

/** JSON that is written in the argument itself, or in a file whose name follows an `@` (`@-`: `stdin`). */
export async function readJson(argument: string): Promise<unknown> {
  const json = argument.startsWith('@') ? await readText(argument.slice(1)) : argument;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`no JSON: ${(error as Error).message}`);
  }
}
