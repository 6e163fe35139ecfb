import { readFileSync } from 'node:fs';

/** The version of this package, whose `package.json` is two folders above this file in a checkout and in the package. */
export const readVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
