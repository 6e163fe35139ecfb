import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A source file by its path in the repository, with what it imports. */
export interface SourceFile {
  path: string;
  text: string;
  imports: Import[];
}

/** One import as written, and the file of this repository that it resolves to (null: a package or a Node.js module). */
export interface Import {
  written: string;
  file: string | null;
}

export const workspaces = [
  ...[
    'shared',
    'shared/client',
    'control-plane',
    'control-plane/embedded-store',
    'browser-node',
    'proxy-router',
    'loadtest',
  ],
] as const;

const workspaceScope = '@adsweep/';
const sources = [...workspaces, 'infra'].map((folder) => `${folder}/**/*.{ts,mts,js,mjs}`);

// A static import or re-export begins a line, as the formatter writes it; a dynamic one, or a type's `import('...')`, may be anywhere.
const staticImport =
  /^(?:import\s+(?:type\s+)?(?:[\w*{$][^'";]*?from\s*)?|export\s+(?:type\s+)?(?:\*|\{)[^'";]*?from\s*)['"]([^'"\n]+)['"]/gm;
const dynamicImport = /\bimport\(\s*['"`]([^'"`\n]+)['"`]/g;

/** Every source file below `root` with its imports: static, dynamic and type-only ones. */
export function readSources(root: string): SourceFile[] {
  const paths = globSync(sources, { cwd: root, exclude: (name) => name.includes('node_modules') });
  return [...new Set(paths)].sort().map((path) => readSource(root, path));
}

function readSource(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const written = importsOf(text);
  return { path, text, imports: written.map((one) => ({ written: one, file: resolve(root, path, one) })) };
}

/** The names that a source text imports from, in order. */
export function importsOf(text: string): string[] {
  return [staticImport, dynamicImport].flatMap((form) => [...text.matchAll(form)].map((match) => match[1]!));
}

function resolve(root: string, from: string, written: string): string | null {
  if (written.startsWith('.')) return normalize(join(dirname(from), written));
  if (!written.startsWith(workspaceScope)) return null;
  const path = written.slice(workspaceScope.length);
  const [name = '', ...rest] = path.split('/');
  const workspace = workspaces.find((folder) => folder.split('/').at(-1) === name) ?? name;
  const exported = join(workspace, 'src', ...rest); // A workspace exports `./*` from its src folder.
  return existsSync(join(root, exported)) ? exported : path;
}

/** The workspace (or other folder of the repository) that a path lies in; one may lie in another. */
export function workspaceOf(path: string): string {
  const around = workspaces.filter((folder) => path.startsWith(`${folder}/`));
  return around.toSorted((one, other) => other.length - one.length)[0] ?? path.split('/')[0]!;
}

/** The package (or `node:` module) that an import names: `@koa/router/types` -> `@koa/router`. */
export function packageOf(written: string): string {
  const parts = written.split('/');
  return written.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!;
}
