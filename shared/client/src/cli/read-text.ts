import { readFileSync } from 'node:fs';
import { UsageError } from './command.ts';

/** The text of a file, or of `stdin` for `-`, without the byte order mark that editors on Windows begin files with. `hint`: what else a person may have meant. */
export function readText(path: string, hint = ''): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}${hint}`);
  }
}

/** JSON that is written in the argument itself, or in a file whose name follows an `@` (`@-`: `stdin`). */
export function readJson(argument: string): unknown {
  const text = argument.startsWith('@') ? readText(argument.slice(1)) : argument;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`no JSON: ${(error as Error).message}`);
  }
}
