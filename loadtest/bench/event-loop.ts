import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldTable } from './hold-table.ts';
import { API_KEY, NODE_TOKEN, startServices } from './measured-services.ts';
import { type Filled, fillByApi, fillStore } from './requests/fill-organization.ts';
import type { Call } from './requests/fill-resources.ts';
import { manyExits } from './requests/many-exits.ts';
import { measureIdle, measureJudgement, measureNodeApi, measureRouter } from './requests/measure-inside.ts';
import { measureApi, measureConsole, measureTools } from './requests/measure-public.ts';
import { type Bench, callWith, nodeApiOf } from './requests/measured-calls.ts';
import { type BenchRoute, readRouteTable } from './requests/route-table.ts';

/**
 * How long requests can block a service's event loop, and how much memory they take: an organization keeps the most that it may, and every
 * operation of the route table gets its worst bodies and queries, once alone and, if it only reads, eight times at once; so do the pages of the
 * console and the tools of assistants.
 *
 *     npm run bench event-loop -- [scans of the organization] [only operations whose path contains this] [folder]
 *
 * The filled organization is kept in the folder, and a later run begins with a copy of it: that measures a part of the operations in minutes.
 */
const [SCANS = '100000', ONLY = '', FOLDER = ''] = process.argv.slice(2);
/** The organization that is measured: its id, a key of it, and what it was filled with. */
type Kept = { client: { id: string; api_key: string }; filled: Filled };
const KEPT_FILE = 'filled.json';
const isKept = FOLDER !== '' && existsSync(join(FOLDER, KEPT_FILE));

const services = await startServices({}, isKept ? FOLDER : null, manyExits());
const bench: Bench = { services, table: new HoldTable(), isMeasured: (path) => path.includes(ONLY) };
const asOperator: Call = (...request) => callWith(bench, API_KEY, ...request);

const readKept = (): Kept => JSON.parse(readFileSync(join(FOLDER, KEPT_FILE), 'utf8'));

async function fillOrganization(routes: BenchRoute[]): Promise<Kept> {
  const { body: client } = await asOperator('POST', '/api/v1/organizations', { name: 'The largest organization' });
  const asClient: Call = (...request) => callWith(bench, client.api_key, ...request);
  const filled = await fillByApi(asClient, asOperator, routes, nodeApiOf(services), NODE_TOKEN);
  console.log('the organization is filled by the API');
  await services.whileStopped(async () => {
    await fillStore(services.folder, client.id, filled, Number(SCANS));
    if (FOLDER === '') return;
    cpSync(services.folder, FOLDER, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    writeFileSync(join(FOLDER, KEPT_FILE), JSON.stringify({ client, filled }));
  });
  console.log(`it has ${SCANS} scans more`);
  return { client, filled };
}

try {
  const routes = await readRouteTable(services.redis.url, services.folder);
  const { client, filled } = isKept ? readKept() : await fillOrganization(routes.api);
  const asClient: Call = (...request) => callWith(bench, client.api_key, ...request);
  const { body: scan } = await asClient('GET', `/api/v1/scans/${filled.scans[0]}`);
  const known = {
    ...{
      status: 'completed',
      country_code: 'US',
      tag: 'autosound',
      url: 'shop-77.example',
      campaign_id: filled.campaigns[0]!,
    },
    ...{ brand: 'acme', label: 'red', category: 'custom', country: 'US', scan_id: scan.id },
    run_id: String(scan.run_id),
    token: String(scan.public_report_url).split('/').at(-1)!,
  };
  await measureIdle(bench);
  await measureJudgement(bench, asClient);
  await measureApi(bench, routes.api, client.api_key, known);
  await measureConsole(bench, client.api_key, known);
  await measureTools(bench, routes.api, client.api_key, known);
  await measureNodeApi(bench, routes.nodeApi);
  await measureRouter(bench);
} finally {
  await services.stop();
}
if (bench.table.save(Number(SCANS)) > 0) process.exitCode = 1;
