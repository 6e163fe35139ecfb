import { accessSync, chmodSync, constants, type Dirent, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from './operator-error.ts';

const OTHERS = 0o077;
const STICKY = 0o1000;

/** Names that Adsweep gives to what it keeps: a folder with one of them is its own. */
const OURS = ['secrets.json', 'store.db', 'objects', 'exits-snapshot.json', 'exit-tickets.jsonl'];

/**
 * Makes a folder that its owner alone may enter (mode 0700), and closes one that is open to others, whatever it was. Throws
 * OperatorError where it cannot be made or written, belongs to somebody else, or others plainly need it.
 */
export function makePrivateFolder(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { message } = cause as Error;
    throw new OperatorError(`${path} cannot be the data folder: ${message}; choose another ADSWEEP_DATA_DIR`, {
      cause,
    });
  }
  if ((statSync(path).mode & OTHERS) === 0) return;
  if (!mayBeRestricted(path))
    throw new OperatorError(
      `${path} is open to other users and is not Adsweep's own: choose an empty folder as ADSWEEP_DATA_DIR, or type chmod 700 ${path}`,
    );
  try {
    chmodSync(path, 0o700);
  } catch (cause) {
    throw new OperatorError(
      `${path} is open to other users and not ours to close: type chown $(id -u) ${path} as root, or choose another ADSWEEP_DATA_DIR`,
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

/** A folder such as /tmp or /etc must stay open: one that many share, or that has folders and nothing of ours among them. */
function mayBeRestricted(path: string): boolean {
  const entries = readdirSync(path, { withFileTypes: true });
  if ((statSync(path).mode & STICKY) !== 0) return false;
  return entries.some(({ name }) => OURS.includes(name)) || !entries.some(isOtherFolder);
}

const isOtherFolder = (entry: Dirent): boolean => entry.isDirectory() && entry.name !== 'lost+found';
