import { globSync } from 'node:fs';
import { isAbsolute, matchesGlob, relative } from 'node:path';
import { workspaces } from './read-imports.ts';

/** The files of one test run, in two passes. */
export interface TestFiles {
  /** Run side by side, as many as there are cores. */
  together: string[];
  /** Whole browsers and farms (`*.e2e.test.ts`): one at a time, after the others, for their time is part of what is tested. */
  alone: string[];
}

const places = [
  ...workspaces.map((name) => `${name}/{test,bench/test,corpus/test}/**/*.test.ts`),
  'infra/*/test/**/*.test.ts',
];

/** All test files below `root`; with words, those that a word names: a file, a folder, a glob or a piece of the path. */
export function findTests(root: string, words: string[]): TestFiles {
  const wanted = words.map((word) => (isAbsolute(word) ? relative(root, word) : word.replace(/^\.\//, '')));
  const files = globSync(places, { cwd: root })
    .filter(
      (path) => !path.includes('node_modules') && (wanted.length === 0 || wanted.some((word) => names(word, path))),
    )
    .sort();
  const isAlone = (path: string) => path.endsWith('.e2e.test.ts');
  return { together: files.filter((path) => !isAlone(path)), alone: files.filter(isAlone) };
}

function names(word: string, path: string): boolean {
  return path.includes(word) || matchesGlob(path, word);
}
