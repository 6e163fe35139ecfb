import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Place } from '../providers/exit.ts';
import type { Provider } from '../providers/provider.ts';
import { isUrl, type ProviderConfig } from '../providers/provider-config.ts';
import { CatalogueError, readCatalogue } from '../providers/read-catalogue.ts';
import { vendorProvider } from '../providers/vendor.ts';
import { type ExitsBase, type ExitsFile, ExitsFileError, readExitsFile } from './exits-file.ts';
import { requireCountry } from './vendor-exit.ts';

/** A vendor's account in use; `places` null if its catalogue is fetched. */
export type LoadedVendor = { config: ProviderConfig; password: string; provider: Provider; places: Place[] | null };

/** An exits file with the files it names; `versions` changes with any of them. */
export type LoadedExits = { file: ExitsFile; vendors: LoadedVendor[]; versions: string };

/**
 * Reads an exits file, and the passwords and catalogues that it names by paths relative to itself. Throws
 * {@link ExitsFileError} with all problems.
 */
export function loadExits(path: string, builtIn: readonly string[], base: ExitsBase | null): LoadedExits {
  // Taken before the files are read: a change in between is noticed the next time.
  const version = versionOf(path);
  const { file, providers, problems } = readExitsFile(readText(path), builtIn, base);
  const versions = [version, ...namedVersions(path, providers)].join('\n');
  const { named, problems: others } = readNamedFiles(providers, path);
  if (!file || others.length > 0) throw new ExitsFileError([...problems, ...others]);
  return { file, vendors: vendorsOf(file, named), versions };
}

/** Reads the files that an exits file names; `path` is the base of relative paths. Throws {@link ExitsFileError}. */
export function completeExits(file: ExitsFile, path: string): LoadedExits {
  const { named, problems } = readNamedFiles(file.providers, path);
  if (problems.length > 0) throw new ExitsFileError(problems);
  return { file, vendors: vendorsOf(file, named), versions: '' };
}

/** The content of the files that an account names; `places` null if its catalogue is fetched. */
type NamedFiles = { password: string; places: Place[] | null };

function readNamedFiles(
  providers: Partial<ProviderConfig>[],
  path: string,
): { named: NamedFiles[]; problems: string[] } {
  const folder = dirname(path);
  const problems: string[] = [];
  const named = providers.map((config, index) => {
    const read = <T>(field: string, work: () => T): T | null => {
      try {
        return work();
      } catch (error) {
        problems.push(...problemsOf(error).map((problem) => `/providers/${index}/${field} ${problem}`));
        return null;
      }
    };
    const password = read('password_file', () => readPassword(config, folder)) ?? '';
    return { password, places: read('catalogue', () => readPlaces(config, folder)) };
  });
  return { named, problems };
}

const vendorsOf = ({ providers }: ExitsFile, named: NamedFiles[]): LoadedVendor[] =>
  providers.map((config, index) => {
    const { password, places } = named[index]!;
    return { config, password, provider: vendorProvider(config, password), places };
  });

/** The exits and accounts by their ids, each with what its connections depend on. */
export const connectionsOf = ({ file, vendors }: LoadedExits): Map<string, string> =>
  new Map([
    ...file.exits.map(({ id, provider, upstream }) => [id, JSON.stringify([provider, upstream])] as const),
    ...vendors.map(({ config: { id, kind, endpoint, username }, password }) => {
      return [id, JSON.stringify([kind, endpoint, username, password])] as const;
    }),
  ]);

/** A text that changes with the exits file and the files that it names; '' if the exits file is missing. */
export function versionsOf(path: string, file: ExitsFile): string {
  try {
    return [versionOf(path), ...namedVersions(path, file.providers)].join('\n');
  } catch {
    return '';
  }
}

/** A missing file has a version too: reading it reports the problem. */
function namedVersions(path: string, providers: readonly Partial<ProviderConfig>[]): string[] {
  const named = providers.flatMap(({ password_file = '', catalogue = '' }) => [
    password_file,
    isUrl(catalogue) ? '' : catalogue,
  ]);
  return named.filter(Boolean).map((name) => versionOf(resolve(dirname(path), name), false));
}

function versionOf(path: string, isRequired = true): string {
  const found = statSync(path, { throwIfNoEntry: isRequired });
  return found ? `${path} ${found.mtimeMs} ${found.size} ${found.ino}` : `${path} is missing`;
}

/** A folder, or a file that we may not read, is a problem like a wrong text. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ExitsFileError(problemsOf(error).map((problem) => `${path} ${problem}`));
  }
}

function readPassword({ password, password_file }: Partial<ProviderConfig>, folder: string): string {
  if (password_file === undefined) return password ?? '';
  const text = readFileSync(resolve(folder, password_file), 'utf8').replace(/\r?\n$/, '');
  if (text === '') throw new CatalogueError(['is empty']);
  return text;
}

function readPlaces(config: Partial<ProviderConfig>, folder: string): Place[] | null {
  const { kind, username, catalogue } = config;
  if (catalogue === undefined || isUrl(catalogue)) return null;
  const places = readCatalogue(readFileSync(resolve(folder, catalogue), 'utf8'));
  if (kind !== undefined && username !== undefined) requireCountry({ kind, username }, places);
  return places;
}

/** A problem never quotes the file, which may hold a secret. */
function problemsOf(error: unknown): string[] {
  if (error instanceof CatalogueError) return error.problems;
  return [`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`];
}
