import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { checkDirections } from '../import-directions.ts';

/** Writes a small tree, checks it and deletes it. */
function breaches(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'adsweep-directions-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return checkDirections(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

function assertOneBreach(files: Record<string, string>, pattern: RegExp): void {
  const found = breaches(files);
  assert.equal(found.length, 1, found.join('\n') || 'no breach was found');
  assert.match(found[0]!, pattern);
}

const cp = 'control-plane/src';

test('a tree that follows the import directions has no breach', () => {
  assert.deepEqual(
    breaches({
      'shared/src/ids.ts': 'export const newId = () => 1;\n',
      [`${cp}/main.ts`]: "import { submit } from './scanning/scans/submit.ts';\nsubmit();\n",
      [`${cp}/compose/create-app.ts`]:
        "import Koa from 'koa';\nimport { routes } from '../scanning/scans/routes.ts';\nnew Koa(routes);\n",
      [`${cp}/scanning/scans/routes.ts`]: "import { submit } from './submit.ts';\nexport const routes = submit;\n",
      [`${cp}/scanning/scans/submit.ts`]:
        "import { newId } from '@adsweep/shared/ids.ts';\nimport { emit } from '../../platform/outbox/emit.ts';\nexport const submit = () => emit(newId());\n",
      [`${cp}/scanning/scans/scan-store.ts`]:
        "import type { Collection } from 'mongodb';\nexport type Scans = Collection;\n",
      [`${cp}/scanning/scans/checks/index.ts`]: "export { one } from './one.ts';\n",
      [`${cp}/scanning/scans/checks/one.ts`]: 'export const one = 1;\n',
      [`${cp}/platform/outbox/emit.ts`]: 'export const emit = (id: number) => id;\n',
      [`${cp}/config.ts`]: 'export const port = process.env.PORT;\n',
      'control-plane/test/scans.test.ts':
        "import '../src/scanning/scans/scan-store.ts';\nimport 'koa';\nprocess.env.MONGODB_URL;\n",
      'loadtest/bench/run.ts': "import '../../control-plane/src/platform/store.ts';\nimport 'playwright-core';\n",
      [`${cp}/platform/store.ts`]: "import '@adsweep/embedded-store/engine.ts';\n",
      'control-plane/embedded-store/src/engine.ts':
        "import { MongoError } from 'mongodb';\nimport 'node:sqlite';\nnew MongoError('');\n",
      'infra/farm/start.ts': "import '@adsweep/shared/ids.ts';\nimport 'node:fs';\nprocess.env.HOME;\n",
    }),
    [],
  );
});

test('a workspace must not import another one, neither by name nor by path', () => {
  const target = { 'proxy-router/src/exits/pick-exit.ts': 'export const pick = 1;\n' };
  const rule = /browser-node must not import proxy-router/;
  assertOneBreach(
    { ...target, 'browser-node/src/a.ts': "import '../../proxy-router/src/exits/pick-exit.ts';\n" },
    rule,
  );
  assertOneBreach(
    { ...target, 'browser-node/test/a.test.ts': "import '@adsweep/proxy-router/src/exits/pick-exit.ts';\n" },
    rule,
  );
});

test('only the platform of control-plane may import the embedded store, which may import nothing of control-plane', () => {
  const engine = { 'control-plane/embedded-store/src/engine.ts': 'export const engine = 1;\n' };
  assertOneBreach(
    { ...engine, [`${cp}/scanning/scans/submit.ts`]: "import '@adsweep/embedded-store/engine.ts';\n" },
    /control-plane must not import control-plane\/embedded-store/,
  );
  assertOneBreach(
    { 'control-plane/embedded-store/src/engine.ts': "import '../../src/platform/store.ts';\n" },
    /control-plane\/embedded-store must not import control-plane/,
  );
});

test('shared must not import a workspace', () => {
  assertOneBreach(
    { 'shared/src/a.ts': "import type { X } from '@adsweep/loadtest/src/x.ts';\n" },
    /shared must not import loadtest/,
  );
});

test('a bench may import the code of the control plane, but not the support of its tests', () => {
  const inBench = (path: string) => ({ 'loadtest/bench/run.ts': `import '../../control-plane/${path}';\n` });
  assertOneBreach(inBench('test/support/running-api.ts'), /loadtest must not import/);
  assert.deepEqual(breaches(inBench('src/scanning/scans/submit.ts')), []);
});

test('a lower module must not import a higher one, not even a type or dynamically', () => {
  const submit = { [`${cp}/scanning/scans/submit.ts`]: 'export type Scan = 1;\n' };
  const rule = /outbox\/emit.ts .* must not import .*scans\/submit.ts .* a higher module/;
  assertOneBreach(
    { ...submit, [`${cp}/platform/outbox/emit.ts`]: "import type { Scan } from '../../scanning/scans/submit.ts';\n" },
    rule,
  );
  assertOneBreach(
    { ...submit, [`${cp}/platform/outbox/emit.ts`]: "const late = () => import('../../scanning/scans/submit.ts');\n" },
    rule,
  );
  assertOneBreach(
    {
      ...submit,
      [`${cp}/platform/outbox/emit.ts`]:
        "export {\n  Scan,\n} from '../../scanning/scans/submit.ts';\nexport const a = 1;\n",
    },
    rule,
  );
});

test('every workspace has modules', () => {
  const upward: [from: string, to: string][] = [
    ['proxy-router/src/tickets/ticket.ts', 'proxy-router/src/gateway/gateway.ts'],
    ['proxy-router/src/exits/exit-source.ts', 'proxy-router/src/tickets/ticket.ts'],
    ['proxy-router/src/providers/direct.ts', 'proxy-router/src/exits/exits-file.ts'],
    ['browser-node/src/browser/launch.ts', 'browser-node/src/capture/capture.ts'],
    ['shared/src/urls/public-host.ts', 'shared/src/lease/messages.ts'],
    ['infra/bootstrap/run.mjs', 'infra/checks/check.ts'],
  ];
  for (const [from, to] of upward)
    assertOneBreach({ [from]: `import '${relative(dirname(from), to)}';\n`, [to]: '' }, /a higher module/);
  for (const path of [
    'proxy-router/src/misc/a.ts',
    'browser-node/src/misc/a.ts',
    'shared/src/misc/a.ts',
    'infra/misc/a.ts',
  ])
    assertOneBreach({ [path]: '' }, /belongs to no module/);
});

test('two folders must not import each other, at any depth', () => {
  const pair = (folder: string) => ({
    [`${folder}/api/a.ts`]: "import '../gateway/b.ts';\n",
    [`${folder}/gateway/c.ts`]: "import type { D } from '../api/d.ts';\n",
    [`${folder}/gateway/b.ts`]: '',
    [`${folder}/api/d.ts`]: 'export type D = 1;\n',
  });
  const rule = /api and .*gateway import each other: .*api\/a.ts -> .*gateway\/b.ts; .*gateway\/c.ts -> .*api\/d.ts/;
  assertOneBreach(pair('proxy-router/src'), rule);
  assertOneBreach(pair('browser-node/src/capture'), rule);
  assert.deepEqual(breaches(pair('proxy-router/test')), []);
});

test('a folder without a module is a breach', () => {
  assertOneBreach({ [`${cp}/misc/thing.ts`]: 'export const thing = 1;\n' }, /belongs to no module/);
});

test("another domain's store, routes and presenter are private to it", () => {
  for (const file of ['campaign-store.ts', 'routes.ts', 'upload-routes.ts', 'present-campaign.ts', 'responses.ts'])
    assertOneBreach(
      {
        [`${cp}/crawling/leases/acquire.ts`]: `import '../../scanning/campaigns/${file}';\n`,
        [`${cp}/scanning/scans/submit.ts`]: `import '../campaigns/${file}';\n`,
        [`${cp}/scanning/campaigns/${file}`]: '',
      },
      /private to its domain/,
    );
});

test('a reserved package may be imported only by its listed files', () => {
  const places: [path: string, name: string][] = [
    [`${cp}/scanning/scans/submit.ts`, 'koa'],
    [`${cp}/scanning/scans/routes.ts`, '@koa/router'],
    [`${cp}/scanning/scans/submit.ts`, 'mongodb'],
    [`${cp}/scanning/scans/submit.ts`, 'ioredis'],
    ['browser-node/src/upload/upload.ts', 'playwright-core'],
    ['loadtest/src/submit.ts', 'playwright-core'],
  ];
  for (const [path, name] of places)
    assertOneBreach({ [path]: `import type { X } from '${name}';\n` }, new RegExp(`must not import ${name};`));
});

test('infra must not import packages', () => {
  assertOneBreach(
    { 'infra/farm/start.ts': "import { WebSocket } from 'ws';\n" },
    /infra uses Node.js and shared alone/,
  );
});

test('an index that is no registry is a breach', () => {
  assertOneBreach({ 'shared/src/urls/index.ts': 'export const a = 1;\n' }, /no registry/);
});
