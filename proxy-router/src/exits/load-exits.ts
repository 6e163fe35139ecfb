import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Place } from '../providers/place.ts';
import type { Provider } from '../providers/provider.ts';
import { isUrl, type ProviderConfig } from '../providers/provider-config.ts';
import { CatalogueError, readCatalogue } from '../providers/read-catalogue.ts';
import { vendorProvider } from '../providers/vendor.ts';
import { type ExitsBase, type ExitsFile, ExitsFileError, parseExitsFile } from './exits-file.ts';

/** A vendor's account in use; `places` null where its catalogue is fetched. */
export type LoadedVendor = { config: ProviderConfig; provider: Provider; places: Place[] | null };

/** An exits file with what it names; `versions` tells one state of those files from another. */
export type LoadedExits = { file: ExitsFile; vendors: LoadedVendor[]; versions: string };

/**
 * Reads an exits file, and the passwords and catalogues that it names by paths relative to itself. Throws {@link ExitsFileError} with
 * all problems.
 */
export function loadExits(path: string, builtIn: readonly string[], base: ExitsBase | null): LoadedExits {
  // Asked for before the file is read: a change in between is then seen the next time.
  const version = versionOf(path);
  const file = parseExitsFile(readText(path), builtIn, base);
  return completeExits(file, path, [version, ...namedVersions(path, file)].join('\n'));
}

/** An exits file, read already, with what it names; `path` is where relative paths start from. Throws {@link ExitsFileError}. */
export function completeExits(file: ExitsFile, path: string, versions: string): LoadedExits {
  const folder = dirname(path);
  const problems: string[] = [];
  const vendors = file.providers.map((config, index) => {
    const read = <T>(field: string, work: () => T): T | null => {
      try {
        return work();
      } catch (error) {
        problems.push(...problemsOf(error).map((problem) => `/providers/${index}/${field} ${problem}`));
        return null;
      }
    };
    const password = read('password_file', () => readPassword(config, folder));
    const places = read('catalogue', () => (isUrl(config.catalogue) ? null : readPlaces(config, folder)));
    return { config, provider: vendorProvider(config, password ?? ''), places };
  });
  if (problems.length > 0) throw new ExitsFileError(problems);
  return { file, vendors, versions };
}

/** Changes with every change of an exits file or of a file that it names; '' where one of them is missing. */
export function versionsOf(path: string, file: ExitsFile): string {
  try {
    return [versionOf(path), ...namedVersions(path, file)].join('\n');
  } catch {
    return '';
  }
}

/** One that is missing has a version too: that it is not there is a problem of the reading that follows. */
function namedVersions(path: string, file: ExitsFile): string[] {
  const named = file.providers.flatMap(({ password_file = '', catalogue }) => [
    password_file,
    isUrl(catalogue) ? '' : catalogue,
  ]);
  return named.filter(Boolean).map((name) => versionOf(resolve(dirname(path), name), false));
}

function versionOf(path: string, isRequired = true): string {
  const found = statSync(path, { throwIfNoEntry: isRequired });
  return found ? `${path} ${found.mtimeMs} ${found.size} ${found.ino}` : `${path} is missing`;
}

/** A folder, or a file of somebody else's, is as wrong as one with the wrong text in it. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ExitsFileError(problemsOf(error).map((problem) => `${path} ${problem}`));
  }
}

function readPassword({ password, password_file }: ProviderConfig, folder: string): string {
  if (password_file === undefined) return password ?? '';
  const text = readFileSync(resolve(folder, password_file), 'utf8').replace(/\r?\n$/, '');
  if (text === '') throw new CatalogueError(['is empty']);
  return text;
}

const readPlaces = ({ catalogue }: ProviderConfig, folder: string): Place[] =>
  readCatalogue(readFileSync(resolve(folder, catalogue), 'utf8'));

/** A problem never holds what the file said: it may be a secret. */
function problemsOf(error: unknown): string[] {
  if (error instanceof CatalogueError) return error.problems;
  return [`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`];
}
