import { globSync, statSync } from 'node:fs';
import { isAbsolute, join, matchesGlob, relative } from 'node:path';
import { workspaces } from './read-imports.ts';

/** The files of one test run, in two passes. Paths are relative to the repository. */
export interface TestFiles {
  /** Files that start no browser; among them the slow ones (`*.slow.test.ts`). */
  withoutBrowser: string[];
  /** Files that start browsers or a whole farm (`*.e2e.test.ts`), the largest first, because a long file that starts last delays the end. */
  withBrowser: string[];
}

const places = [
  ...workspaces.map((name) => `${name}/{test,bench/test,corpus/test,load/test}/**/*.test.ts`),
  'infra/*/test/**/*.test.ts',
];

/** Whether a file takes long, although it starts no browser. */
export const isSlow = (path: string): boolean => path.endsWith('.slow.test.ts');

/** Whether a file kills, pauses, cuts off or floods what it tests: `npm test` leaves it to `npm run test:all`. */
export const isResilience = (path: string): boolean => path.includes('.resilience.');

/** All test files below `root`; with `words`, those that match one: a file, a folder, a glob or a part of the path. */
export function findTests(root: string, words: string[]): TestFiles {
  const wanted = words.map((word) => (isAbsolute(word) ? relative(root, word) : word.replace(/^\.\//, '')));
  const files = globSync(places, { cwd: root })
    .filter(
      (path) => !path.includes('node_modules') && (wanted.length === 0 || wanted.some((word) => matches(word, path))),
    )
    .sort();
  const startsBrowser = (path: string) => path.endsWith('.e2e.test.ts');
  const size = (path: string) => statSync(join(root, path)).size;
  return {
    withoutBrowser: files.filter((path) => !startsBrowser(path)),
    withBrowser: files.filter(startsBrowser).toSorted((one, other) => size(other) - size(one)),
  };
}

function matches(word: string, path: string): boolean {
  return path.includes(word) || matchesGlob(path, word);
}
