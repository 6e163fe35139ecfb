import { matchesGlob } from 'node:path';
import { modules as browserNodeModules } from '../../browser-node/src/modules.ts';
import { modules as controlPlaneModules } from '../../control-plane/src/modules.ts';
import { modules as proxyRouterModules } from '../../proxy-router/src/modules.ts';
import { modules as clientModules } from '../../shared/client/src/modules.ts';
import { modules as sharedModules } from '../../shared/src/modules.ts';
import { modules as infraModules } from '../modules.ts';
import { mutualImports } from './mutual-imports.ts';
import { packageOf, readSources, type SourceFile, workspaceOf } from './read-imports.ts';

/** The modules of a workspace, from the highest to the lowest. Each workspace lists its own in a `modules.ts` beside its code. */
type Modules = [name: string, ...paths: string[]][];

/** The modules of each workspace, by the folder that their paths are relative to. */
const modulesIn: Record<string, Modules> = {
  'control-plane/src/': controlPlaneModules,
  'browser-node/src/': browserNodeModules,
  'proxy-router/src/': proxyRouterModules,
  'shared/src/': sharedModules,
  'shared/client/src/': clientModules,
  'infra/': infraModules,
  'loadtest/': [['benchmarks', '**']],
};

/** Private files of a domain, which is a folder of `src`; other domains use its public functions. */
const privateFiles = ['**/*-store.ts', '**/{routes,*-routes}.ts', '**/{present-*,responses}.ts'];

/** The files that may import a reserved package. Packages that are not listed may be imported anywhere. */
const reserved: Record<string, string[]> = {
  koa: ['control-plane/src/{http,compose}/**', 'proxy-router/src/api/**', 'loadtest/bench/bare-create.ts'],
  '@koa/router': ['control-plane/src/{http,compose}/**', 'proxy-router/src/api/**'],
  mongodb: ['control-plane/src/{platform/**,**/*-store.ts}', 'control-plane/embedded-store/src/**'],
  'node:sqlite': ['control-plane/embedded-store/src/**', 'infra/farm/**'],
  ioredis: ['control-plane/src/{platform/redis.ts,crawling/queue/queue.ts,crawling/fleet/nodes.ts}'],
  dockerode: ['control-plane/src/crawling/scaler/docker-host.ts'],
  'playwright-core': [
    'browser-node/src/{browser/**,capture/**,failures.ts}',
    'loadtest/{bench/**,corpus/discovery/measure.ts}',
  ],
};
/** Packages that infra may use besides Node.js and shared: the settings loader in shared requires typebox schemas. */
const infraPackages: Record<string, string[]> = { typebox: ['infra/{farm,demo}/**'] };

/** Folders whose `index.ts` is a registry of their files; no other index is allowed. Biome checks barrel files and cycles. */
const registries = ['**/{checks,rule-types,targets,collectors,observations,providers,migrations}/index.ts'];

/** The exceptions to "workspaces import shared only", with their reasons. */
const acrossWorkspaces: { why: string; from: string; to: string }[] = [
  {
    why: 'the embedded store is one of the two engines behind the platform',
    from: 'control-plane/src/platform/**',
    to: 'control-plane/embedded-store/src/**',
  },
  {
    why: 'both engines pass the same conformance suite',
    from: 'control-plane/test/**',
    to: 'control-plane/embedded-store/test/conformance/**',
  },
  {
    why: 'a benchmark measures a part by itself',
    from: 'loadtest/bench/**',
    to: '{control-plane/src/**,control-plane/test/support/queued-events.ts,control-plane/test/support/simulated-year.ts,proxy-router/src/exits/**,browser-node/src/browser/chromium-flags.ts}',
  },
  {
    why: 'a benchmark measures a farm that is started as in tests',
    from: 'loadtest/{bench/**,corpus/discovery/sweeper.ts}',
    to: 'infra/farm/test/support/**',
  },
  { why: 'real nodes under load scan the local ad world', from: 'loadtest/load/**', to: 'infra/demo/**' },
  {
    why: 'hostile pages are served by http and https on one port, as the ad world is',
    from: 'loadtest/bench/hostile.ts',
    to: 'infra/demo/{either-server,test-certificate}.ts',
  },
  {
    why: "the corpus captures with a node's browser",
    from: 'loadtest/corpus/discovery/finder.ts',
    to: 'browser-node/src/browser/chromium-pool.ts',
  },
  {
    why: 'sweeps are measured and tested on the sites that the tests of nodes serve',
    from: '{loadtest/bench/sweep.ts,infra/farm/test/{sweep-kills,hostile-sweep}.resilience.e2e.test.ts}',
    to: 'browser-node/test/support/site.ts',
  },
  {
    why: 'the corpus captures like the tests of nodes and judges with the detectors of the control plane',
    from: 'loadtest/corpus/**',
    to: '{browser-node/test/support,control-plane/src/{analysis/{classification,detectors,evidence,rules,threads},crawling/captures}}/**',
  },
  {
    why: "the console has the generated types of the API's answers",
    from: 'control-plane/src/console/api/schemas.ts',
    to: 'shared/client/src/generated/api.ts',
  },
  {
    why: 'each workspace lists its own modules',
    from: 'infra/checks/import-directions.ts',
    to: '{*,shared/client}/src/modules.ts',
  },
  {
    why: "the API serves the client's MCP server",
    from: 'control-plane/src/http/serve-mcp.ts',
    to: 'shared/client/src/{client.ts,mcp/**}',
  },
  {
    why: 'the documents list what the parts declare',
    from: 'infra/docs/test/**',
    to: '{{control-plane,browser-node,proxy-router}/src/metrics,control-plane/src/{http/errors,delivery/webhooks/event-types},proxy-router/src/exits/exits-file}.ts',
  },
  {
    why: 'the client is tested with a running API',
    from: 'shared/client/test/**',
    to: 'control-plane/test/support/running-api.ts',
  },
  {
    why: 'the farm gives each process the settings that it describes',
    from: 'infra/farm/services.ts',
    to: '{control-plane,proxy-router,browser-node}/src/config.ts',
  },
  {
    why: 'sites with an invalid certificate have the same one in tests as in the ad world',
    from: '{browser-node/test/support/site,proxy-router/test/support/simulated-vendor}.ts',
    to: 'infra/demo/test-certificate.ts',
  },
  {
    why: 'pages of the control plane are tested in the browser of the nodes',
    from: '{control-plane,shared/client}/test/**/*.e2e.test.ts',
    to: 'browser-node/test/support/chromium-of-run.ts',
  },
  {
    why: 'the whole farm is tested on each store',
    from: 'infra/{farm,docker}/test/**',
    to: 'control-plane/test/support/mongodb-server.ts',
  },
  {
    why: 'the whole farm is tested with a vendor',
    from: 'infra/farm/test/**',
    to: 'proxy-router/test/support/simulated-vendor.ts',
  },
];

const isTest = (path: string) => path.split('/').includes('test');
const isOneOf = (path: string, globs: string[]) => globs.some((glob) => matchesGlob(path, glob));

/** All breaches of the import directions below `root`, one line each. */
export function checkDirections(root: string): string[] {
  const files = readSources(root);
  const ofOneFile = [outsideOwnWorkspace, upward, privateToDomain, reservedPackage, infraPackage, indexFile];
  return [...files.flatMap((file) => ofOneFile.flatMap((rule) => rule(file))), ...mutualImports(files)];
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

function upward({ path, imports }: SourceFile): string[] {
  const own = moduleOf(path);
  if (own === null) return [];
  const { root, modules } = own;
  if (path === `${root}modules.ts`) return [];
  if (own.index === -1) return [`${path}: belongs to no module; give its folder a line in ${root}modules.ts`];
  return imports.flatMap(({ file }) => {
    const other = file?.startsWith(root) ? moduleOf(file) : null;
    if (!other || other.index === -1 || other.index >= own.index) return [];
    const [ownName, otherName] = [modules[own.index]![0], modules[other.index]![0]];
    return [`${path} (${ownName}) must not import ${file} (${otherName}), a higher module`];
  });
}

/** The modules of a file's workspace and which of them is its own, -1 for none; null for tests and files outside of all workspaces. */
function moduleOf(path: string): { root: string; modules: Modules; index: number } | null {
  const [root, modules] = Object.entries(modulesIn).find(([folder]) => path.startsWith(folder)) ?? [];
  if (!root || !modules || isTest(path)) return null;
  return { root, modules, index: modules.findIndex(([, ...globs]) => isOneOf(path.slice(root.length), globs)) };
}

const controlPlane = 'control-plane/src/';

function privateToDomain({ path, imports }: SourceFile): string[] {
  if (!path.startsWith(controlPlane) || moduleOf(path)?.index === 0) return [];
  const domainOf = (one: string) => one.slice(controlPlane.length).split('/')[0];
  const isOwn = (file: string) => domainOf(file) === domainOf(path);
  return imports
    .filter(({ file }) => file?.startsWith(controlPlane) && !isOwn(file))
    .filter(({ file }) => !isFoundation(file!) && !isKernel(file!) && isOneOf(file!, privateFiles))
    .map(({ file }) => `${path}: ${file} is private to its domain; call one of its verbs`);
}

/** The scan's record, states and store are shared by all domains. */
const isKernel = (path: string) => path.startsWith(`${controlPlane}scan/`);

const isFoundation = (path: string) => moduleOf(path)?.index === controlPlaneModules.length - 1;

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

function indexFile({ path }: SourceFile): string[] {
  const isStray = path.endsWith('/index.ts') && !isOneOf(path, registries);
  return isStray ? [`${path}: an index that is no registry; import from the files themselves`] : [];
}
