import type { Config } from '../../config.ts';
import type { ReadyCheck } from '../../http/probes.ts';
import type { Metrics } from '../../metrics.ts';
import type { Platform } from '../../platform/platform.ts';
import { createApp } from '../create-app.ts';
import type { Domains } from '../domains.ts';
import type { Need } from '../readiness.ts';

export const NODE_API_NEEDS: readonly Need[] = ['store', 'disk', 'redis'];

/** The surface for browser nodes, on a port of its own: leases, uploads, captures. */
export function nodeApi(
  config: Config,
  { logger }: Platform,
  { registry, seen }: Metrics,
  { crawling }: Domains,
  readyChecks: ReadyCheck[],
) {
  return createApp({
    routes: crawling.routes,
    admit: crawling.admit,
    readyChecks,
    logger,
    registry,
    metricsToken: config.ADSWEEP_METRICS_TOKEN || config.ADSWEEP_NODE_TOKEN,
    seen: seen('node_api'),
    docs: false,
  });
}
