import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import { packageOf, readSources, workspaceOf, workspaces } from './read-imports.ts';

/** The result of a dependency check: breaches, one line each, or why it was skipped. */
export type Outcome = { breaches: string[] } | { skipped: string };

const NPM_MS = 20_000;
/** Timeout of a query to the registry. */
const REGISTRY_MS = 8_000;

/** Tests of the checks contain source texts that import packages which do not exist. */
const holdsSourceTexts = (path: string) => path.startsWith('infra/checks/test/');

/**
 * Every import of a package that the file's own workspace does not declare; `infra` is covered by the root's `package.json`. What is below `src`
 * is installed without the packages for development.
 */
export function undeclaredPackages(root: string): string[] {
  const declared = new Map<string, Set<string>>();
  const declaredBy = (folder: string, path: string) => {
    const shipped = isShipped(path, folder);
    const key = `${folder} ${shipped}`;
    if (!declared.has(key)) declared.set(key, packagesOf(root, folder, shipped));
    return declared.get(key)!;
  };
  return readSources(root)
    .filter(({ path }) => !holdsSourceTexts(path))
    .flatMap(({ path, imports }) => {
      const workspace = workspaceOf(path);
      const folder = (workspaces as readonly string[]).includes(workspace) ? workspace : '.';
      const missing = imports
        .map(({ written }) => packageOf(written))
        .filter((name) => !/^(\.|node:)/.test(name) && name !== `@adsweep/${folder.split('/').at(-1)}`)
        .filter((name) => !declaredBy(folder, path).has(name));
      const where = `${join(folder, 'package.json')}${isShipped(path, folder) ? ', or only for development' : ''}`;
      return [...new Set(missing)].map((name) => `${path}: ${name} is not declared in ${where}`);
    });
}

const isShipped = (path: string, folder: string): boolean => path.startsWith(`${folder}/src/`);

function packagesOf(root: string, folder: string, shipped: boolean): Set<string> {
  const {
    dependencies = {},
    peerDependencies = {},
    devDependencies = {},
  } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const linked = folder === '.' ? workspaces.map((one) => `@adsweep/${one.split('/').at(-1)}`) : [];
  const own = { ...dependencies, ...peerDependencies };
  return new Set([...Object.keys(own), ...(shipped ? [] : Object.keys(devDependencies)), ...linked]);
}

type Audit = { vulnerabilities?: Record<string, { severity: string; range: string; via: (string | Advisory)[] }> };
type Advisory = { title: string; url: string };

/** Known high and critical vulnerabilities of installed packages; skipped if no registry answers the query. */
export async function knownVulnerabilities(root: string): Promise<Outcome> {
  const limits = [`--fetch-timeout=${REGISTRY_MS}`, '--fetch-retries=0'];
  const answer = await npm(root, ['audit', '--audit', '--json', '--audit-level=high', ...limits]);
  const audit = jsonOrNull(answer.output) as Audit | null;
  if (!audit?.vulnerabilities) return { skipped: 'no registry that lists vulnerabilities answered' };
  const severe = Object.entries(audit.vulnerabilities).filter(([, { severity }]) => /^(high|critical)$/.test(severity));
  return {
    breaches: severe.map(([name, { severity, range, via }]) => {
      const reasons = via.map((one) => (typeof one === 'string' ? `by ${one}` : `${one.title} ${one.url}`));
      return `${name} ${range}: ${severity}: ${reasons.join('; ')}`;
    }),
  };
}

/** Licences that a dependency may have; others need a decision. */
const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'LGPL-3.0-or-later',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);

/** Licences of versions whose package.json states them as `licenses`, which npm does not read: looked up in their LICENSE. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  'buildcheck@0.0.7': 'MIT',
  'cpu-features@0.0.10': 'MIT',
  'ssh2@1.17.0': 'MIT',
};

type Component = {
  'bom-ref': string;
  hashes?: object[];
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  properties?: { name: string }[];
};

/**
 * Writes the bill of materials of the lock file (CycloneDX, JSON) to `.adsweep/sbom.cdx.json`. A component without a checksum, or with a
 * licence that is not in the list, is a breach.
 */
export async function billOfMaterials(root: string): Promise<Outcome> {
  const answer = await npm(root, ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']);
  const bill = jsonOrNull(answer.output) as { bomFormat?: string; components?: Component[] } | null;
  if (bill?.bomFormat !== 'CycloneDX' || !bill.components)
    return { breaches: [`npm sbom: ${answer.problem || answer.output.slice(0, 500)}`] };
  mkdirSync(join(root, '.adsweep'), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, '.adsweep/sbom.cdx.json'), answer.output);
  return { breaches: bill.components.flatMap(componentBreaches) };
}

/** What is missing or not allowed in one component. Pure. */
export function componentBreaches({
  'bom-ref': ref,
  hashes = [],
  licenses = [],
  properties = [],
}: Component): string[] {
  // Packages of this repository: they are private, or in the scope of those that are published.
  const isOurs = properties.some(({ name }) => name === 'cdx:npm:package:private') || ref.startsWith('@adsweep/');
  if (isOurs) return [];
  const named = licenses
    .map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '')
    .join(' AND ');
  const unknown = (named || READ_BY_HAND[ref] || '')
    .replaceAll(/[()]/g, '')
    .split(/ AND | OR /)
    .filter((id) => !LICENCES.has(id));
  return [
    ...(hashes.length === 0 ? [`${ref}: no checksum in package-lock.json`] : []),
    ...(unknown.length > 0 ? [`${ref}: the licence ${named || 'is missing'}${named && ' is not in the list'}`] : []),
  ];
}

/** The output of npm; `problem`: why there is none, such as a timeout. */
function npm(root: string, args: string[]): Promise<{ output: string; problem: string }> {
  const child = spawn('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], timeout: NPM_MS });
  const text = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk;
    });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ output: '', problem: error.message }));
    child.once('close', () => resolve({ output: text.stdout, problem: text.stderr.trim() }));
  });
}
