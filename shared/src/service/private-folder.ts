import { accessSync, chmodSync, constants, type Dirent, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from './operator-error.ts';

const OTHERS = 0o077;
const STICKY = 0o1000;

/** File names in Adsweep's data folder: a folder with one of them is its own. */
const OURS = ['secrets.json', 'store.db', 'objects', 'exits-snapshot.json', 'exit-tickets.jsonl'];

/**
 * Creates a folder that only its owner can open (mode 0700), and restricts an existing one to that. Throws
 * OperatorError where it cannot be created or written, another user owns it, or others evidently use it. `use`: as what
 * the folder was chosen.
 */
export function makePrivateFolder(path: string, use = 'ADSWEEP_DATA_DIR'): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { message } = cause as Error;
    throw new OperatorError(`${path} cannot be used: ${message}; choose another folder as ${use}`, { cause });
  }
  if ((statSync(path).mode & OTHERS) === 0) return;
  if (!mayBeRestricted(path))
    throw new OperatorError(
      `${path} is open to other users and is not Adsweep's own: choose an empty folder as ${use}, or, if nothing else uses this one, type chmod 700 ${path}`,
    );
  try {
    chmodSync(path, 0o700);
  } catch (cause) {
    throw new OperatorError(
      `${path} is open to other users and not ours to close: type chown $(id -u) ${path} as root, or choose another folder as ${use}`,
      { cause },
    );
  }
}

/** With those above it. Node.js' own way of doing so never ends where a file system takes no folder, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder');
    return;
  }
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

/** Not a folder such as /tmp or /etc: one with the sticky bit, or with subfolders and without any file of ours. */
function mayBeRestricted(path: string): boolean {
  const entries = readdirSync(path, { withFileTypes: true });
  if ((statSync(path).mode & STICKY) !== 0) return false;
  return entries.some(({ name }) => OURS.includes(name)) || !entries.some(isOtherFolder);
}

const isOtherFolder = (entry: Dirent): boolean => entry.isDirectory() && entry.name !== 'lost+found';
