import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { newId } from '@adsweep/shared/ids.ts';
import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import Koa from 'koa';
import { compileValidator } from '../../control-plane/src/http/validate.ts';
import { openStore } from '../../control-plane/src/platform/store.ts';
import { catalogueReader } from '../../control-plane/src/reference/catalogue/mirror-catalogue.ts';
import { filterKeysOf } from '../../control-plane/src/scan/filter-keys.ts';
import { scanStore } from '../../control-plane/src/scan/scan-store.ts';
import type { StoredScan } from '../../control-plane/src/scan/stored-scan.ts';
import { checkRequest } from '../../control-plane/src/scanning/scans/request/checks/index.ts';
import { newScan } from '../../control-plane/src/scanning/scans/request/new-scan.ts';
import { type ScanIn, ScanInSchema } from '../../control-plane/src/scanning/scans/request/scan-in.ts';

/**
 * The baseline for creating a scan: one Koa route with the same validation and the same insert, and nothing else: no key, no
 * organization, no price, no log, no index of work. Runs as a separate process: `bare-create.ts <data folder> <proxy-router> <its token>`.
 */
const [folder = '', routerUrl = '', token = ''] = process.argv.slice(2);

const store = await openStore({ path: join(folder, 'bare.db') });
await scanStore(store).createIndexes();
const scans = store.collection<StoredScan>('scans');
const catalogue = await catalogueReader(routerUrl, token)();
const addresses = new AddressPolicy([]);
const check = compileValidator(ScanInSchema, 'body');
const campaign = { hasCampaign: true, hasRun: true, isArchived: false, isRunCancelled: false };
const options = { organizationId: 'organization', priceMicros: 10_000 };

const app = new Koa();
app.use(async (context) => {
  const chunks: Buffer[] = [];
  for await (const chunk of context.req as AsyncIterable<Buffer>) chunks.push(chunk);
  const scan = JSON.parse(Buffer.concat(chunks).toString()) as ScanIn;
  const countries = [scan.country_code];
  const sentCountries = { field: 'country_code' as const, value: scan.country_code };
  const request = { scan, refused: new Set<string>(), sentCountries, countries, campaign, catalogue, addresses };
  const issues = [...check(scan).issues, ...checkRequest(request)];
  if (issues.length > 0) context.throw(422, JSON.stringify(issues));
  const record = newScan(scan, { id: newId(), country: scan.country_code }, catalogue, options, new Date());
  await scans.insertOne({ ...record, filter_keys: filterKeysOf(record) });
  context.status = 201;
  context.body = { id: record._id, status: record.status };
});

const server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
  announceReady(createLogger('bare', 'silent'), { http: (server.address() as AddressInfo).port });
});
