import { readFileSync } from 'node:fs';

/** The text of a small file of /proc or /sys; null where there is none, or it may not be read. */
export function readFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
