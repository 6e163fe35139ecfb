import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Most of the time of a small test file is loading the code under test: files that run in one process load it once. */
const FILES_MAX = 32;

/** Where the entries of groups are written, below the repository. */
const GROUPS = '.tools/cache/test-groups';

/** How the line begins that has the processor time of a file in seconds; in a group the path of the file follows. */
export const processorTime = 'processor time: ';

/** Whether this file, relative to the repository, is the entry of a group. */
export const isGroup = (path: string): boolean => path.startsWith(`${GROUPS}/`);

/**
 * Groups the files of a workspace, neighbours first, and writes an entry for each group. Returns the paths of the entries, and of files that are
 * the only one of their workspace, the largest first, because a long group that starts last delays the end.
 */
export function groupTests(root: string, files: readonly string[]): string[] {
  rmSync(join(root, GROUPS), { recursive: true, force: true });
  mkdirSync(join(root, GROUPS), { recursive: true });
  const bytesOf = (part: readonly string[]) => part.reduce((sum, path) => sum + statSync(join(root, path)).size, 0);
  const entries = [...Map.groupBy(files, workspaceOf)].flatMap(([workspace, own]) => {
    if (own.length === 1) return { entry: own[0]!, bytes: bytesOf(own) };
    const groups = Math.ceil(own.length / FILES_MAX);
    return Array.from({ length: groups }, (_, at) => {
      const part = own.slice(Math.floor((at * own.length) / groups), Math.floor(((at + 1) * own.length) / groups));
      return { entry: writeEntry(root, `${workspace}-${at + 1}`, part), bytes: bytesOf(part) };
    });
  });
  return entries.toSorted((one, other) => other.bytes - one.bytes).map(({ entry }) => entry);
}

const workspaceOf = (file: string): string => file.slice(0, file.indexOf('/'));

function writeEntry(root: string, name: string, files: readonly string[]): string {
  const entry = join(root, GROUPS, `${name}.test.ts`);
  const runner = JSON.stringify(new URL('run-test-group.ts', import.meta.url).href);
  const text = `// ${files.join('\n// ')}
import { runTestGroup } from ${runner};

runTestGroup('${pathToFileURL(root).href}', ${JSON.stringify(files)});
`;
  writeFileSync(entry, text);
  return relative(root, entry);
}
