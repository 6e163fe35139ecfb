import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOP = join(import.meta.dirname, '../../../..');

/** The settings that a service reads, by the table in its README. */
export const settingsOf = (service: string): Set<string> =>
  new Set(
    [...readFileSync(join(TOP, service, 'README.md'), 'utf8').matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(
      ([, name = '']) => name,
    ),
  );

/** The settings of an operator that one service gets and another one that reads them does not, as `service setting`. `passed`: by service. */
export function missingSettings(passed: Record<string, string[]>): string[] {
  const all = new Set(Object.values(passed).flat());
  return Object.entries(passed).flatMap(([service, own]) => {
    const reads = settingsOf(service);
    return [...all].filter((name) => reads.has(name) && !own.includes(name)).map((name) => `${service} ${name}`);
  });
}
