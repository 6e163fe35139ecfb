import type { SourceFile } from './read-imports.ts';

/** Every pair of sibling folders, at any depth, whose files import each other, one line per pair. Tests do not count. */
export function mutualImports(files: SourceFile[]): string[] {
  const imports = folderImports(files.filter(({ path }) => !path.split('/').includes('test')));
  const pairs = [...imports.keys()].filter((pair) => {
    const [from = '', to = ''] = pair.split(' ');
    return from < to && imports.has(`${to} ${from}`);
  });
  return pairs.map((pair) => describe(pair, imports));
}

/** An example import for each ordered pair of neighbouring folders, by `<from> <to>`. */
function folderImports(files: SourceFile[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { path, imports } of files)
    for (const { file } of imports) {
      const folders = file && neighbours(path.split('/'), file.split('/'));
      if (folders) found.set(folders, `${path} -> ${file}`);
    }
  return found;
}

/** The first folders in which two paths differ; null where one of the two is a file. */
function neighbours(from: string[], to: string[]): string | null {
  const at = from.findIndex((name, index) => name !== to[index]);
  if (at === -1 || at >= from.length - 1 || at >= to.length - 1) return null;
  return `${from.slice(0, at + 1).join('/')} ${to.slice(0, at + 1).join('/')}`;
}

function describe(pair: string, imports: Map<string, string>): string {
  const [from, to] = pair.split(' ');
  return `${from} and ${to} import each other: ${imports.get(`${from} ${to}`)}; ${imports.get(`${to} ${from}`)}`;
}
