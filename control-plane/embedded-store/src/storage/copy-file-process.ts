import { closeSync, constants, copyFileSync, fsyncSync, openSync } from 'node:fs';

/**
 * A process that copies a file, named by its first argument, to a new one, named by its second, and syncs that to the
 * disk.
 */
const [from = '', to = ''] = process.argv.slice(2);
copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
const copy = openSync(to, 'r+');
fsyncSync(copy);
closeSync(copy);
