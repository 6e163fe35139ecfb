import { join } from 'node:path';
import { firstSecret } from '@adsweep/shared/service/bearer.ts';
import { type Listening, listen } from '@adsweep/shared/service/listen.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { makePrivateFolder } from '@adsweep/shared/service/private-folder.ts';
import type { Stop } from '@adsweep/shared/service/shutdown.ts';
import { splitAddressBlocks } from '@adsweep/shared/urls/address-blocks.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { ledgerStore } from '../accounts/billing/ledger-store.ts';
import { accountStore } from '../accounts/organizations/account-store.ts';
import { addFirstOrganization } from '../accounts/organizations/add-organization.ts';
import { findCaller } from '../accounts/organizations/find-caller.ts';
import type { Config } from '../config.ts';
import { requireNoEviction, warnOfEviction } from '../crawling/queue/eviction-policy.ts';
import { authenticate } from '../http/authenticate.ts';
import { idempotencyStore } from '../http/idempotency-store.ts';
import type { ReadyCheck } from '../http/probes.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { bringUpToDate } from '../platform/migrations/bring-up-to-date.ts';
import { type ObjectStore, openDiskObjects } from '../platform/object-store.ts';
import { openRedis, type RedisClient, redisReady } from '../platform/redis.ts';
import { openStore, type Store } from '../platform/store.ts';
import { fetchCatalogue } from '../reference/catalogue/fetch-catalogue.ts';
import { type CatalogueMirror, mirrorCatalogue } from '../reference/catalogue/mirror-catalogue.ts';
import { findTagDefinition } from '../reference/tags/tag-definitions.ts';
import { PicturePool } from '../scanning/artifacts/picture-pool.ts';
import { scanStore } from '../scanning/scans/state/scan-store.ts';
import { apiRoutes } from './api-routes.ts';
import { createApp } from './create-app.ts';
import { createFarm, type Farm } from './farm.ts';
import { reportSources } from './report-sources.ts';

/** A control plane at work: where it listens, and what to stop, in order. */
export type ControlPlane = { ports: { http: number; node_api: number }; stops: Stop[] };

/** How long requests under way may take when the process is told to stop; nodes' long polls would wait longer. */
const API_GRACE_MS = 3_000;
const NODE_API_GRACE_MS = 1_000;

/** How long the start waits for Redis before it goes on without it. */
const REDIS_WAIT_MS = 2_000;

/** What everything stands on, opened. */
type Ground = { store: Store; objects: ObjectStore; redis: RedisClient; metrics: Metrics; logger: Logger };

/**
 * Starts the control plane, all roles in this process. It needs its store and its ports; Redis and the proxy-router may come later:
 * until then it is not ready, and takes scans all the same where it can judge them.
 */
export async function startControlPlane(config: Config, logger: Logger): Promise<ControlPlane> {
  const ground = await openGround(config, logger);
  const api = await listen(config.ADSWEEP_HTTP_HOST, config.ADSWEEP_HTTP_PORT);
  const nodeApi = await listen(config.ADSWEEP_NODE_API_HOST, config.ADSWEEP_NODE_API_PORT);
  const publicUrl = config.ADSWEEP_PUBLIC_URL.replace(/\/+$/, '') || `http://127.0.0.1:${api.port}`;

  const farm = createFarm({
    ...ground,
    registry: ground.metrics.registry,
    publicUrl,
    joinTokens: config.ADSWEEP_NODE_TOKEN,
    leaseSecret: config.ADSWEEP_LEASE_SECRET,
  });
  await farm.createIndexes();
  const catalogue = mirror(config, ground);
  const pictures = new PicturePool();
  const draining = new AbortController();
  const readyChecks = whatIsNeeded(ground, catalogue, draining.signal);

  await serveApi(config, ground, { server: api, farm, catalogue, readyChecks, publicUrl, pictures });
  serveNodeApi(config, ground, { server: nodeApi, farm, readyChecks });
  await redisReady(ground.redis, REDIS_WAIT_MS).catch((cause: unknown) =>
    logger.warn({ cause }, 'started without redis'),
  );
  warnOfEviction(ground.redis, logger);
  const loops = farm.start();

  const stops: Stop[] = [
    ['readiness', () => draining.abort()],
    ['API', () => api.close(API_GRACE_MS)],
    ['node API', () => nodeApi.close(NODE_API_GRACE_MS)],
    ['pictures', () => pictures.close()],
    ['catalogue', () => catalogue.stop()],
    ['loops', () => loops.stop()],
    ['redis', () => ground.redis.disconnect()],
    ['store', () => ground.store.close()],
  ];
  return { ports: { http: api.port, node_api: nodeApi.port }, stops };
}

async function openGround(config: Config, logger: Logger): Promise<Ground> {
  const folder = config.ADSWEEP_DATA_DIR;
  makePrivateFolder(folder);
  const objects = await openDiskObjects(join(folder, 'objects'));
  const store = await openStore({ mongodbUrl: config.MONGODB_URL, path: join(folder, 'store.db') });
  await bringUpToDate(store, logger);
  return { store, objects, redis: openRedis(config.REDIS_URL, logger), metrics: createMetrics(), logger };
}

function mirror(config: Config, { metrics, logger }: Ground): CatalogueMirror {
  const proxyUrl = config.ADSWEEP_PROXY_URL.replace(/\/+$/, '');
  const fetchIt = () => fetchCatalogue(proxyUrl, firstSecret(config.ADSWEEP_NODE_TOKEN));
  const refreshed = () => metrics.catalogueRead.set(Date.now() / 1000);
  return mirrorCatalogue(fetchIt, config.ADSWEEP_CATALOGUE_SECONDS * 1000, logger, refreshed);
}

function whatIsNeeded({ store, redis }: Ground, catalogue: CatalogueMirror, draining: AbortSignal): ReadyCheck[] {
  const unless = (missing: boolean, what: string) => {
    if (missing) throw new Error(what);
  };
  return [
    ['draining', () => unless(draining.aborted, 'the process is stopping')],
    ['store', () => store.ping()],
    ['redis', async () => void (await redis.ping())],
    ['redis maxmemory-policy noeviction', () => (redis.status === 'ready' ? requireNoEviction(redis) : undefined)],
    ['catalogue', () => unless(catalogue.read() === null, 'the catalogue was not read yet')],
  ];
}

type Served = { server: Listening; farm: Farm; readyChecks: ReadyCheck[] };
type ApiServed = Served & { catalogue: CatalogueMirror; publicUrl: string; pictures: PicturePool };

async function serveApi(
  config: Config,
  { store, metrics, logger }: Ground,
  { server, farm, catalogue, readyChecks, publicUrl, pictures }: ApiServed,
): Promise<void> {
  const [accounts, scans, ledger] = [accountStore(store), scanStore(store), ledgerStore(store)];
  const idempotency = idempotencyStore(store);
  await accounts.createIndexes();
  await idempotency.createIndexes();
  if (config.ADSWEEP_API_KEY) await addFirstOrganization(accounts, config.ADSWEEP_API_KEY, new Date());
  if (!(await accounts.hasKeys())) logger.warn('nobody has a key: set ADSWEEP_API_KEY');

  const routes = apiRoutes({
    scans,
    idempotency,
    publicUrl,
    log: logger,
    priceMicros: config.ADSWEEP_CHECK_PRICE_MICROS,
    readCatalogue: catalogue.read,
    addresses: new AddressPolicy(splitAddressBlocks(config.ADSWEEP_DENY_ADDRESSES)),
    enqueue: farm.enqueue,
    unqueue: farm.unqueue,
    readEvidence: farm.landingsOf,
    tagWords: findTagDefinition,
    outboxFilled: farm.outboxFilled,
    submitted: () => metrics.submitted.inc(),
    openScreenshot: async (organizationId, id, ord) => {
      const scan = await scans.find(organizationId, id);
      return scan && farm.openScreenshot(scan, ord);
    },
    readLedger: ledger.list,
    pictures,
    blockNode: farm.blockNode,
    unblockNode: farm.unblockNode,
    reports: reportSources(scans, farm, pictures),
  });
  const app = createApp({
    routes,
    readyChecks,
    logger,
    registry: metrics.registry,
    metricsToken: config.ADSWEEP_METRICS_TOKEN || config.ADSWEEP_NODE_TOKEN,
    seen: metrics.seen('api'),
    docs: true,
    admit: (authorization, permission) =>
      authenticate((key) => findCaller(accounts, key, new Date()), authorization, permission),
  });
  server.serve(app.callback());
}

function serveNodeApi(config: Config, { metrics, logger }: Ground, { server, farm, readyChecks }: Served): void {
  const app = createApp({
    routes: farm.nodeRoutes,
    admit: farm.admitNode,
    readyChecks,
    logger,
    registry: metrics.registry,
    metricsToken: config.ADSWEEP_METRICS_TOKEN || config.ADSWEEP_NODE_TOKEN,
    seen: metrics.seen('node_api'),
    docs: false,
  });
  server.serve(app.callback());
}
