import { matchesGlob } from 'node:path';
import { packageOf, readSources, type SourceFile, withoutComments } from './read-imports.ts';

/**
 * The drawing of control-plane: what stands higher may import what stands lower or beside it, never the reverse.
 * A path belongs to the first line that names it.
 */
const layers: [name: string, ...paths: string[]][] = [
  ['the whole', 'main.ts', 'wiring.ts', 'wiring/**', 'app.ts'],
  ['running things', 'pipeline/**', 'outbox/relay.ts', '**/reaper.ts', '**/refill.ts', '**/*{dispatch,schedul}*.ts'],
  ['leases, captures, campaigns, rules, reports, fleet', '{leases,captures,campaigns,rules,reports,fleet}/**'],
  [
    'scans and what belongs to them',
    '{scans,alerts,notifications,policies,catalogue,webhooks,artifacts,tags,forms}/**',
  ],
  ['crawl-jobs, billing, events, accounts', '{crawl-jobs,billing,events,accounts,outbox}/**'],
  ['judgement (pure)', '{detection,classification}/**'],
  ['ground', '{http,platform}/**', 'config.ts', 'metrics.ts'],
];

/** Parts of a domain that are its own business; from other domains one calls its verbs. */
const ownBusiness = ['**/*-store.ts', '**/{routes,*-routes}.ts', '**/{present-*,responses}.ts'];

/** Who may use what. Whatever is not named here may be imported anywhere. */
const reserved: Record<string, string[]> = {
  koa: ['control-plane/src/{http/**,app.ts}', 'proxy-router/src/api/**'],
  '@koa/router': ['control-plane/src/{http/**,app.ts}', 'proxy-router/src/api/**'],
  mongodb: ['control-plane/src/{platform/**,**/*-store.ts}'],
  mingo: ['control-plane/src/platform/embedded/**'],
  'node:sqlite': ['control-plane/src/platform/embedded/**', 'infra/farm/**'],
  ioredis: ['control-plane/src/{platform/redis.ts,crawl-jobs/queue.ts,leases/nodes.ts}'],
  'playwright-core': ['browser-node/src/{browser/**,capture/**,failures.ts}', 'loadtest/bench/**'],
};
/** What infra may use beside Node.js and shared: settings are described in typebox, for the loader in shared asks for it. */
const infraPackages: Record<string, string[]> = { typebox: ['infra/{farm,demo}/**'] };
const readsEnvironment = ['**/config.ts', 'shared/src/service/load-config.ts', 'infra/{bootstrap,farm}/**'];

/** Folders whose `index.ts` is a list of what is in them. Any other file that only passes things on is a barrel. */
const registries = ['**/{checks,rule-types,behaviors,targets,collectors,providers,migrations}/index.ts'];

/**
 * The exceptions to "workspaces import shared only": a bench measures a part itself, the farm hands each part the settings that it
 * describes, the whole farm is tested on each store, and a careless site has the same kind of certificate in tests as in the ad world.
 */
const acrossWorkspaces = [
  { from: 'loadtest/bench/**', to: 'control-plane/src/{platform,billing}/**' },
  { from: 'infra/farm/farm.ts', to: '{control-plane,proxy-router,browser-node}/src/config.ts' },
  { from: 'browser-node/test/support/site.ts', to: 'infra/demo/self-signed.ts' },
  { from: 'infra/farm/test/**', to: 'control-plane/test/support/mongodb-server.ts' },
];

const isTest = (path: string) => path.split('/').includes('test');
const isOneOf = (path: string, globs: string[]) => globs.some((glob) => matchesGlob(path, glob));
const workspaceOf = (path: string) => path.split('/')[0]!;

/** All breaches of the drawing below `root`, one line each; empty when it holds. */
export function checkDirections(root: string): string[] {
  const files = readSources(root);
  const ofOneFile = [
    outsideOwnWorkspace,
    upward,
    privateToDomain,
    reservedPackage,
    infraPackage,
    readingEnvironment,
    barrel,
  ];
  return [...files.flatMap((file) => ofOneFile.flatMap((rule) => rule(file))), ...cycles(files)];
}

function outsideOwnWorkspace({ path, imports }: SourceFile): string[] {
  const own = workspaceOf(path);
  return imports
    .map(({ file }) => file)
    .filter((file) => file !== null && workspaceOf(file) !== own)
    .filter((file) => own === 'shared' || workspaceOf(file!) !== 'shared')
    .filter((file) => !acrossWorkspaces.some((one) => matchesGlob(path, one.from) && matchesGlob(file!, one.to)))
    .map((file) => `${path}: ${own} must not import ${file}: workspaces import shared only`);
}

const controlPlane = 'control-plane/src/';

function layerOf(path: string): number {
  return layers.findIndex(([, ...globs]) => isOneOf(path.slice(controlPlane.length), globs));
}

function upward({ path, imports }: SourceFile): string[] {
  if (!path.startsWith(controlPlane)) return [];
  const own = layerOf(path);
  if (own === -1) return [`${path}: belongs to no layer; give its folder a place in infra/checks/import-directions.ts`];
  return imports
    .filter(({ file }) => file?.startsWith(controlPlane) && layerOf(file) !== -1 && layerOf(file) < own)
    .map(
      ({ file }) =>
        `${path} (${layers[own]![0]}) must not import ${file} (${layers[layerOf(file!)]![0]}), a higher layer`,
    );
}

function privateToDomain({ path, imports }: SourceFile): string[] {
  if (!path.startsWith(controlPlane) || layerOf(path) === 0) return [];
  const domainOf = (one: string) => one.slice(controlPlane.length).split('/')[0];
  return imports
    .filter(({ file }) => file?.startsWith(controlPlane) && domainOf(file) !== domainOf(path))
    .filter(({ file }) => layerOf(file!) < layers.length - 1 && isOneOf(file!, ownBusiness))
    .map(({ file }) => `${path}: ${file} is private to its domain; call one of its verbs`);
}

function reservedPackage({ path, imports }: SourceFile): string[] {
  if (isTest(path)) return [];
  return imports
    .filter(({ written }) => isReservedFrom(path, packageOf(written)))
    .map(
      ({ written }) => `${path}: must not import ${written}; that is for ${reserved[packageOf(written)]!.join(', ')}`,
    );
}

function isReservedFrom(path: string, name: string): boolean {
  return Object.hasOwn(reserved, name) && !isOneOf(path, reserved[name]!);
}

function infraPackage({ path, imports }: SourceFile): string[] {
  if (workspaceOf(path) !== 'infra' || isTest(path)) return [];
  return imports
    .filter(({ written, file }) => file === null && !written.startsWith('node:'))
    .filter(({ written }) => !isOneOf(path, infraPackages[packageOf(written)] ?? []))
    .map(({ written }) => `${path}: must not import ${written}; infra uses Node.js and shared alone`);
}

function readingEnvironment({ path, text }: SourceFile): string[] {
  if (isTest(path) || isOneOf(path, readsEnvironment)) return [];
  const reads = /\bprocess\.env\b|\benv\b[^;]*\} from 'node:process'/.test(withoutComments(text));
  return reads ? [`${path}: reads the environment; that is for config.ts`] : [];
}

function barrel({ path, text }: SourceFile): string[] {
  if (isOneOf(path, registries)) return [];
  const passesOn = /export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*'[^']*';?/g;
  const code = withoutComments(text);
  const isBarrel = passesOn.test(code) && code.replace(passesOn, '').trim() === '';
  const isIndex = path.endsWith('/index.ts');
  return isBarrel || isIndex ? [`${path}: a barrel file; import from the files themselves`] : [];
}

/** Every ring of imports, once, named from its alphabetically first file on. */
function cycles(files: SourceFile[]): string[] {
  const targets = new Map(files.map(({ path, imports }) => [path, imports.map(({ file }) => file)]));
  const done = new Set<string>();
  const found = new Map<string, string>();
  const walk = (path: string, trail: string[]) => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      const ring = trail.slice(start);
      found.set([...ring].sort().join(), `${[...ring, path].join(' -> ')}: a ring of imports`);
    } else if (!done.has(path)) {
      for (const next of targets.get(path) ?? []) if (next !== null) walk(next, [...trail, path]);
      done.add(path);
    }
  };
  for (const { path } of files) walk(path, []);
  return [...found.values()];
}
