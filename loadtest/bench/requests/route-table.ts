import { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { clientRoutes } from '../../../control-plane/src/compose/create-app.ts';
import { createDomains } from '../../../control-plane/src/compose/domains.ts';
import type { Route } from '../../../control-plane/src/http/route.ts';
import { createMetrics, workMetrics } from '../../../control-plane/src/metrics.ts';
import { openBroadcast } from '../../../control-plane/src/platform/broadcast.ts';
import { openDiskObjects } from '../../../control-plane/src/platform/objects/disk-objects.ts';
import { openRedis } from '../../../control-plane/src/platform/redis.ts';
import { secretsUnder } from '../../../control-plane/src/platform/secrets.ts';
import { openStore } from '../../../control-plane/src/platform/store.ts';
import { openWakeHub } from '../../../control-plane/src/platform/wake-hub.ts';

export type BenchRoute = Route<never>;
export type RouteTable = { api: BenchRoute[]; nodeApi: BenchRoute[] };

/** The routes of a control plane, of which nothing else is started. It needs a Redis and a folder. */
export async function readRouteTable(redisUrl: string, folder: string): Promise<RouteTable> {
  const logger = createLogger('bench', 'silent');
  const metrics = createMetrics();
  const [store, objects] = await Promise.all([openStore({ path: ':memory:' }), openDiskObjects(folder)]);
  const redis = openRedis(redisUrl, logger);
  const [wake, broadcast] = [openWakeHub(redis), openBroadcast(redis)];
  const platform = {
    ...{
      store,
      redis,
      objects,
      disk: { requireFree: async () => {}, freeAboveFloor: async () => 0 },
      wake,
      broadcast,
      logger,
    },
    ...{ metrics: workMetrics(metrics.registry), closing: new AbortController().signal },
    ...{ secrets: secretsUnder(['none']), mailer: null },
  };
  const domains = createDomains(platform, {
    ...{ publicUrl: 'http://127.0.0.1', hasConsole: false, dataDir: folder, addresses: new AddressPolicy([]) },
    ...{ egress: new EgressPolicy([], []), telegramApiUrl: 'http://127.0.0.1:9' },
    ...{ proxyUrl: 'http://127.0.0.1:9', catalogueEveryMs: 60_000, joinTokens: 'none', leaseSecret: 'none' },
    ...{ ruleBudgetMs: 2_000, model: null, checkPriceMicros: 0, startBalanceMicros: null, storedMbPerDay: 0 },
    oauthRegistration: false,
  });
  const table = {
    api: clientRoutes({ platform, domains }, 'http://127.0.0.1') as BenchRoute[],
    nodeApi: domains.crawling.routes['node-api'] as BenchRoute[],
  };
  wake.stop();
  broadcast.stop();
  redis.disconnect();
  await store.close();
  return table;
}
