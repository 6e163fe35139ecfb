import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SetupProblem } from './setup-problem.mjs';

/** An npm package that carries a Node.js, at one version and with one content (SRI, "sha512-<base64>"). @typedef {{ name: string, version: string, integrity: string }} NodePackage */

/** The packages this checkout trusts, by platform and architecture. @type {Record<string, NodePackage>} */
export const nodePackages = JSON.parse(readFileSync(new URL('./node-packages.json', import.meta.url), 'utf8'));

/** The package for this kind of machine, or null where none is published. @param {{ platform: string, arch: string }} machine */
export function nodePackageFor({ platform, arch }) {
  return nodePackages[`${platform}-${arch}`] ?? null;
}

/** Throws a SetupProblem unless the archive is the one that this checkout names. @param {string} file @param {NodePackage} expected */
export function verifyArchive(file, { name, version, integrity }) {
  const actual = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (actual === integrity) return;
  throw new SetupProblem(
    `the download of ${name}@${version} is not the package that this checkout names; it was not used`,
    [
      `  expected ${integrity}`,
      `  got      ${actual}`,
      'Try again; if it stays so, your npm registry or a proxy on the way serves a changed package.',
    ],
  );
}
