import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Prints a benchmark's result and keeps it as `loadtest/results/<date>-<name>.md`; answers the file. */
export function saveResult(name: string, paragraphs: string[]): string {
  const text = `${paragraphs.join('\n\n')}\n`;
  const dir = join(import.meta.dirname, '../results');
  mkdirSync(dir, { recursive: true });
  const file = join(dir, `${new Date().toISOString().slice(0, 10)}-${name}.md`);
  writeFileSync(file, text);
  console.log(`\n${text}\nkept in ${file}`);
  return file;
}
