import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { billOfMaterials, componentBreaches, knownVulnerabilities, undeclaredPackages } from '../dependencies.ts';
import { workspaces } from '../read-imports.ts';

const manifest = (name: string, fields: object = {}) =>
  JSON.stringify({ name, version: '1.0.0', private: true, ...fields });

/** A repository of these files, with an empty `package.json` in each workspace. */
function repository(test: TestContext, files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'dependencies-'));
  test.after(() => rmSync(root, { recursive: true, force: true }));
  const empty = workspaces.map((folder) => [`${folder}/package.json`, manifest(folder.replaceAll('/', '-'))]);
  for (const [path, text] of [...empty, ['package.json', manifest('root')], ...Object.entries(files)]) {
    mkdirSync(dirname(join(root, path!)), { recursive: true });
    writeFileSync(join(root, path!), text!);
  }
  return root;
}

describe('imported packages', () => {
  it('an imported package must be declared by the workspace that imports it, even if another one declares it; below src, as one to run', (test) => {
    const root = repository(test, {
      'control-plane/package.json': manifest('control-plane', {
        dependencies: { koa: '1' },
        devDependencies: { x: '1' },
      }),
      'control-plane/src/a.ts': "import 'koa';\nimport './b.ts';\nimport 'node:fs';\n",
      'control-plane/src/b.ts': "import type { X } from 'x/y';\n",
      'control-plane/test/a.ts': "import 'x';\n",
      'shared/src/a.ts': "import { Koa } from 'koa';\nawait import('@scope/name/part');\n",
      'infra/farm/a.ts': "import '@adsweep/shared/a.ts';\nimport 'x';\n",
    });
    assert.deepEqual(undeclaredPackages(root).sort(), [
      'control-plane/src/b.ts: x is not declared in control-plane/package.json, or only for development',
      'infra/farm/a.ts: x is not declared in package.json',
      'shared/src/a.ts: @scope/name is not declared in shared/package.json, or only for development',
      'shared/src/a.ts: koa is not declared in shared/package.json, or only for development',
    ]);
  });
});

/** A lock file with one package of the registry in it. */
const LOCKED = {
  'package.json': manifest('root', { dependencies: { left: '1.0.0' } }),
  'package-lock.json': JSON.stringify({
    name: 'root',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'root', version: '1.0.0', dependencies: { left: '1.0.0' } },
      'node_modules/left': { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==`, license: 'MIT' },
    },
  }),
};

describe('vulnerabilities', () => {
  /** Makes npm query a registry with these responses. */
  async function registry(test: TestContext, status: number, advisories: object) {
    const versions = { '1.0.0': { name: 'left', version: '1.0.0' }, '2.0.0': { name: 'left', version: '2.0.0' } };
    const left = { name: 'left', 'dist-tags': { latest: '2.0.0' }, versions };
    const server = createServer(({ method }, response) => {
      const [code, body] = method === 'POST' ? [status, advisories] : [200, left];
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    test.after(() => server.close());
    useRegistry(test, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }

  function useRegistry(test: TestContext, url: string) {
    const cache = mkdtempSync(join(tmpdir(), 'npm-cache-'));
    const before = { ...process.env };
    Object.assign(process.env, { npm_config_registry: url, npm_config_cache: cache });
    test.after(() => {
      process.env = before;
      rmSync(cache, { recursive: true, force: true });
    });
  }

  const advisory = (severity: string) => ({
    left: [{ id: 1, url: 'https://advisories.example/1', title: 'Left is wrong', severity, vulnerable_versions: '<2' }],
  });

  it('a vulnerability of high severity is a breach', async (test) => {
    await registry(test, 200, advisory('high'));
    assert.deepEqual(await knownVulnerabilities(repository(test, LOCKED)), {
      breaches: ['left <2: high: Left is wrong https://advisories.example/1'],
    });
  });

  it('a vulnerability of low severity is no breach', async (test) => {
    await registry(test, 200, advisory('low'));
    assert.deepEqual(await knownVulnerabilities(repository(test, LOCKED)), { breaches: [] });
  });

  it('the check of vulnerabilities is skipped if the registry does not list them or does not answer', async (test) => {
    const root = repository(test, LOCKED);
    await registry(test, 405, {});
    assert.match(JSON.stringify(await knownVulnerabilities(root)), /skipped/);
    useRegistry(test, 'http://127.0.0.1:1/');
    assert.match(JSON.stringify(await knownVulnerabilities(root)), /skipped/);
  });
});

describe('the bill of materials', () => {
  it('the bill of materials lists each package of the lock file in CycloneDX', async (test) => {
    const root = repository(test, LOCKED);
    assert.deepEqual(await billOfMaterials(root), { breaches: [] });
    const bill = JSON.parse(readFileSync(join(root, '.adsweep/sbom.cdx.json'), 'utf8'));
    assert.equal(bill.bomFormat, 'CycloneDX');
    assert.ok(bill.components.some((one: { purl: string }) => one.purl === 'pkg:npm/left@1.0.0'));
  });

  it('without a lock file, no bill of materials is written', async (test) => {
    const root = repository(test, {});
    assert.match(JSON.stringify(await billOfMaterials(root)), /npm sbom: /);
    assert.ok(!existsSync(join(root, '.adsweep/sbom.cdx.json')));
  });

  it('a licence that is not in the list and a package without a checksum are breaches', () => {
    const hashes = [{}];
    const part = (licenses: object[], more: object = { hashes }) =>
      componentBreaches({ 'bom-ref': 'a@1', licenses, ...more } as Parameters<typeof componentBreaches>[0]);
    assert.deepEqual(part([{ license: { id: 'MIT' } }]), []);
    assert.deepEqual(part([{ expression: '(MIT OR Apache-2.0)' }]), []);
    assert.deepEqual(part([{ license: { id: 'SSPL-1.0' } }]), ['a@1: the licence SSPL-1.0 is not in the list']);
    assert.deepEqual(part([]), ['a@1: the licence is missing']);
    const read = (ref: string) => componentBreaches({ 'bom-ref': ref, hashes, licenses: [] });
    assert.deepEqual(read('ssh2@1.17.0'), [], 'its licence was read by hand');
    assert.equal(read('ssh2@2.0.0').length, 1, 'that of another version was not');
    assert.deepEqual(part([{ license: { id: 'MIT' } }], {}), ['a@1: no checksum in package-lock.json']);
  });
});
