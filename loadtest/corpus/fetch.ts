import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { environmentWith } from '../bench/config.ts';
import { BUILDS } from './build-sets.ts';

/**
 * A file of the corpora. `path`: where its source has it; `to`: where the data folder has it; `sha256`: of what is written there;
 * `build`: the recipe ({@link BUILDS}) that makes it from the source file, absent if it is that file.
 */
export type SourceFile = { path: string; to: string; sha256: string; build?: string };
/** A git repository. `commit` may be abbreviated: then the commits of all branches are fetched, without any files, to find it. */
export type GitSource = { name: string; repository: string; commit: string; licence: string; files: SourceFile[] };
/** A package that Adsweep depends on: the corpus is of that version. */
export type PackageSource = { name: string; version: string; licence: string; files: SourceFile[] };
/** A file that the repository carries in `carried/`, with what it was made from. */
export type CarriedFile = { file: string; to: string; sha256: string; licence: string; origin: string };
export type Sources = { sources: GitSource[]; packages: PackageSource[]; carried: CarriedFile[] };

const CARRIED = join(import.meta.dirname, 'carried');
const GIT_MS = 600_000;

export const readManifest = (): Sources =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'sources.json'), 'utf8')) as Sources;

/**
 * Downloads every file of the manifest into `folder`, and returns the failures, one line each. A file whose hash differs from the
 * manifest's is not written. Files with the right hash are kept, so that an interrupted run can be continued; a
 * source without missing files is not contacted. `report` gets a line for each source.
 */
export async function fetchCorpus(
  { sources, packages, carried }: Sources,
  folder: string,
  report: (line: string) => void,
): Promise<string[]> {
  const problems: string[] = [];
  const attempt = async (name: string, files: { to: string; sha256: string }[], bring: () => Promise<void> | void) => {
    const missing = files.filter((file) => !isThere(folder, file));
    if (missing.length === 0) {
      report(`${name}: already present`);
      return;
    }
    try {
      await bring();
      report(`${name}: stored ${missing.length}`);
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  };
  for (const file of carried)
    await attempt(file.file, [file], () => store(folder, file, readFileSync(join(CARRIED, file.file))));
  for (const source of packages) await attempt(source.name, source.files, () => copyPackage(source, folder));
  for (const source of sources) await attempt(source.name, source.files, () => fetchRepository(source, folder));
  return problems;
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function isThere(folder: string, { to, sha256 }: { to: string; sha256: string }): boolean {
  const path = join(folder, to);
  return existsSync(path) && hashOf(readFileSync(path)) === sha256;
}

/** Writes a file if its hash is right; throws if it is not. */
function store(folder: string, { to, sha256 }: { to: string; sha256: string }, bytes: Buffer): void {
  const found = hashOf(bytes);
  if (found !== sha256) throw new Error(`${to} has the SHA-256 ${found}, not ${sha256}`);
  const path = join(folder, to);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.part`, bytes);
  renameSync(`${path}.part`, path);
}

function storeBuilt(folder: string, file: SourceFile, source: Buffer): void {
  store(folder, file, file.build === undefined ? source : Buffer.from(build(file.build, source)));
}

function build(recipe: string, source: Buffer): string {
  const make = BUILDS[recipe];
  if (!make) throw new Error(`there is no recipe ${recipe}`);
  return make(source, refusedByRe2());
}

const refusedByRe2 = (): Set<string> =>
  new Set(JSON.parse(readFileSync(join(CARRIED, 'refused-by-re2.json'), 'utf8')) as string[]);

function copyPackage({ name, version, files }: PackageSource, folder: string): void {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const installed = JSON.parse(readFileSync(manifest, 'utf8')).version;
  if (installed !== version) throw new Error(`version ${installed} is installed, not ${version}`);
  for (const file of files) storeBuilt(folder, file, readFileSync(join(dirname(manifest), file.path)));
}

/** Fetches a commit into a repository of its own, stores the files, and removes the repository; it is kept if that fails. */
async function fetchRepository({ name, repository, commit, files }: GitSource, folder: string): Promise<void> {
  const directory = join(folder, '.git-sources', `${name}.git`);
  const git = (...args: string[]) => runGit(['-C', directory, ...args]);
  if (!existsSync(directory)) {
    mkdirSync(directory, { recursive: true });
    await git('init', '--quiet', '--bare');
    await git('remote', 'add', 'origin', repository);
    // Blobs are fetched when they are read.
    await git('config', 'remote.origin.promisor', 'true');
    await git('config', 'remote.origin.partialclonefilter', 'blob:none');
  }
  const wanted =
    commit.length === 40
      ? ['--filter=blob:none', '--depth=1', 'origin', commit]
      : ['--filter=tree:0', 'origin', '+refs/heads/*:refs/remotes/origin/*'];
  await git('fetch', '--quiet', ...wanted);
  for (const file of files.filter((one) => !isThere(folder, one)))
    storeBuilt(folder, file, await git('cat-file', 'blob', `${commit}:${file.path}`));
  rmSync(directory, { recursive: true, force: true });
}

/** What git printed; throws with the end of its stderr if it fails. It never asks for a password. */
function runGit(args: string[]): Promise<Buffer> {
  const env = environmentWith({ GIT_TERMINAL_PROMPT: '0', GIT_DIR: undefined, LC_ALL: 'C' });
  const child = spawn('git', args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: GIT_MS });
  const chunks: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-1_000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`git could not be started: ${error.message}`)));
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks));
      else reject(new Error(`git ${args[2]}: ${stderr.trim() || `exit code ${code}`}`));
    });
  });
}
