import { readFileSync } from 'node:fs';

/** The text of a file, null if it does not exist. Throws the system's other errors. */
export function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
