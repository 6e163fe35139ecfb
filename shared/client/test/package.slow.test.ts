import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { freshFolder, nodeOfMajor, outputOf, programInPath, ROOT } from './support/packed-package.ts';
import { answer, scriptedServer } from './support/scripted-server.ts';

/** A program of a user, in TypeScript that is JavaScript too. */
const PROGRAM = `import { AdsweepError, adsweep, verifyWebhook } from '@adsweep/client';

const api = adsweep({ url: String(process.argv[2]), key: 'key' });
const countries = [];
for await (const { country_code } of api.listAlerts.each({ status: 'open' })) countries.push(country_code);
const refused = await api.getScan('none').catch((error) => error instanceof AdsweepError && error.status);
const forged = await verifyWebhook('whsec_', {}, '').catch((error) => String(error));
console.log(JSON.stringify([countries, refused, forged.startsWith('Error: webhook')]));
`;

const PAGE = { items: [{ country_code: 'US' }], total: 2, limit: 1, pages: 2 };
const TURNS = [
  answer(200, { ...PAGE, page: 1 }),
  answer(200, { ...PAGE, page: 2 }),
  answer(404, { detail: '', code: 'not_found' }),
];
/** What the program prints with these answers. */
const PRINTED = [['US', 'US'], 404, true];

/** What TypeScript accepts of the types, and what it must refuse. */
const TYPES = `import { adsweep, type Schemas, type WebhookEvent } from '@adsweep/client';

const api = adsweep({ url: 'https://adsweep.example', key: async () => 'token' });
const target = { url: 'https://shop.example/', emulator_id: 'iphone_16' };
const scan: Schemas['Scan'] = await api.createScan({ ...target, country_code: 'US' });
const estimate: Schemas['Estimate'] = await api.createScan({ ...target, country_code: 'US' }, { query: { dry_run: true } });
const scans: Schemas['Scan'][] = await api.createScansInBulk({ ...target, country_codes: ['US'] });
const ended: Schemas['Scan'] = await api.scans.wait(scan.id, { onState: ({ status }) => console.log(status) });
for await (const tile of api.listRunScans.each('run', { limit: 200 })) console.log(tile.id);
for await (const brief of api.listScans.each({ status: 'failed', label_team: 'a' })) console.log(brief.id);
const picture: Blob = await api.getScanLandingScreenshot(scan.id, 0, { w: 400 });
const markup: string = await api.getScanCreativeHtml(scan.id);
const nothing: undefined = await api.deleteWebhook('endpoint');
await api.rotateWebhookSecret('endpoint');
await api.getProxyTargeting({ country_code: 'US' });
const slugs = (event: WebhookEvent) => (event.type === 'scanning.tags.detected' ? event.data.tag_slugs : []);
console.log(estimate, scans, ended, picture, markup, nothing, slugs);
// @ts-expect-error an id is missing
await api.getScan();
// @ts-expect-error a required parameter is missing
await api.getProxyTargeting();
// @ts-expect-error no such parameter
await api.listScans({ nonsense: 1 });
// @ts-expect-error no such field
await api.createScan({ ...target, country_code: 'US', nonsense: 1 });
// @ts-expect-error a list of countries belongs to another operation
await api.createScan({ ...target, country_codes: ['US'] });
`;

const OPTIONS = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--exactOptionalPropertyTypes'];

describe('the packed client in a folder of its own', () => {
  let fresh: Awaited<ReturnType<typeof freshFolder>>;
  before(async () => {
    fresh = await freshFolder();
    writeFileSync(join(fresh.folder, 'program.mjs'), PROGRAM);
    writeFileSync(join(fresh.folder, 'types.mts'), TYPES);
    // Deno looks for packages only where one is declared.
    writeFileSync(join(fresh.folder, 'package.json'), '{ "dependencies": { "@adsweep/client": "*" } }');
  });
  after(() => fresh.remove());

  for (const major of [20, 24])
    test(`runs with Node.js ${major}, and so does the command line`, async (t) => {
      const node = await nodeOfMajor(major);
      if (node === null) return t.skip(`there is no Node.js ${major} in PATH`);
      const { url } = await scriptedServer(t, TURNS);
      const printed = await outputOf(node, ['program.mjs', url], { cwd: fresh.folder });
      assert.deepEqual(JSON.parse(printed), PRINTED);
      const cli = ['node_modules/@adsweep/client/bin/adsweep.js', 'api', 'getScan', 'none', '--json'];
      const env = { ADSWEEP_URL: url, ADSWEEP_API_KEY: 'key' };
      await assert.rejects(outputOf(node, cli, { cwd: fresh.folder, env }), /"code": "not_found"/);
      const tools = outputOf(node, [cli[0]!, 'mcp'], { cwd: fresh.folder, env });
      await assert.rejects(tools, /needs a further package: npm install @modelcontextprotocol\/sdk/);
    });

  for (const [name, args] of Object.entries({ deno: ['run', '--allow-net', '--allow-env', '--allow-read'], bun: [] }))
    test(`runs with ${name}`, async (t) => {
      const runtime = programInPath(name);
      if (runtime === null) return t.skip(`there is no ${name} in PATH`);
      const { url } = await scriptedServer(t, TURNS);
      const printed = await outputOf(runtime, [...args, 'program.mjs', url], { cwd: fresh.folder });
      assert.deepEqual(JSON.parse(printed), PRINTED);
    });

  for (const [version, folder] of Object.entries({ 5: 'shared/node_modules', 7: 'node_modules' }))
    test(`has types for TypeScript ${version} in strict mode`, async () => {
      const tsc = join(ROOT, folder, 'typescript/bin/tsc');
      assert.match(await outputOf(process.execPath, [tsc, '--version']), new RegExp(`^Version ${version}\\.`));
      const libraries = ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable'];
      await outputOf(process.execPath, [tsc, ...OPTIONS, ...libraries, 'types.mts'], { cwd: fresh.folder });
    });
});
