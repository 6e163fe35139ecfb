import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const ROOT = join(import.meta.dirname, '../../../..');

/** The output of a program; rejects with all of it if it fails. */
export async function outputOf(
  program: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const { stdout } = await run(program, args, options).catch((error) => {
    throw new Error(`${program} ${args.join(' ')}: ${error.message}\n${error.stdout}${error.stderr}`);
  });
  return stdout;
}

/** A new folder with the client as `npm pack` makes it, and nothing else but what it depends on. */
export async function freshFolder(): Promise<{ folder: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-client-'));
  const installed = join(folder, 'node_modules/@adsweep/client');
  mkdirSync(installed, { recursive: true });
  const pack = ['pack', '--silent', '--pack-destination', folder];
  const file = (await outputOf('npm', pack, { cwd: join(ROOT, 'shared/client') })).trim().split('\n').at(-1)!;
  await outputOf('tar', ['-xzf', join(folder, file), '-C', installed, '--strip-components=1']);
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
    cpSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

/** The program of this name in PATH; null: there is none. */
export const programInPath = (name: string): string | null =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync) ?? null;

/** The Node.js of this major version in PATH; null: there is none. */
export async function nodeOfMajor(major: number): Promise<string | null> {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  for (const program of [process.execPath, ...candidates]) {
    if (!existsSync(program)) continue;
    if ((await outputOf(program, ['--version'])).startsWith(`v${major}.`)) return program;
  }
  return null;
}
