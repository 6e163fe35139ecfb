import { chmodSync, type Dirent, mkdirSync, readdirSync, statSync } from 'node:fs';
import { OperatorError } from './operator-error.ts';

const OTHERS = 0o077;
const STICKY = 0o1000;

/** Names that Adsweep gives to what it keeps: a folder with one of them is its own. */
const OURS = ['secrets.json', 'store.db', 'objects', 'exits-snapshot.json', 'exit-tickets.jsonl'];

/**
 * Makes a folder that its owner alone may enter (mode 0700), and closes one that is open to others, whatever it was. Throws
 * OperatorError where the folder belongs to somebody else, or others plainly need it.
 */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if ((statSync(path).mode & OTHERS) === 0) return;
  if (!mayBeClosed(path))
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

/** A folder such as /tmp or /etc must stay open: one that many share, or that has folders and nothing of ours among them. */
function mayBeClosed(path: string): boolean {
  const entries = readdirSync(path, { withFileTypes: true });
  if ((statSync(path).mode & STICKY) !== 0) return false;
  return entries.some(({ name }) => OURS.includes(name)) || !entries.some(isOtherFolder);
}

const isOtherFolder = (entry: Dirent): boolean => entry.isDirectory() && entry.name !== 'lost+found';
