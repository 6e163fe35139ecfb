import { type Listening, listen } from '@adsweep/shared/service/listen.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Stop } from '@adsweep/shared/service/shutdown.ts';
import { type Config, modelSettings, type RoleName, rolesOf } from '../config.ts';
import { authenticate } from '../http/caller.ts';
import type { ReadyCheck } from '../http/probes.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import type { Platform } from '../platform/platform.ts';
import { createApp } from './create-app.ts';
import { createDomains, createIndexes, type Domains } from './domains.ts';
import { openPlatform, waitForRedis } from './open-platform.ts';
import { type Need, readyChecks } from './readiness.ts';
import { API_NEEDS, type Api, startApi } from './roles/api.ts';
import { LOOP_ROLES, type LoopRole } from './roles/loop-roles.ts';
import { NODE_API_NEEDS, nodeApi } from './roles/node-api.ts';

/** A running control plane: where it listens, and what to stop, in order. */
export type ControlPlane = { ports: { http: number; node_api?: number }; stops: Stop[] };

/** How long requests under way may take when the process is told to stop; nodes' long polls would wait longer. */
const API_GRACE_MS = 3_000;
const NODE_API_GRACE_MS = 1_000;

/**
 * Starts the roles of this process. It needs its store and its ports; Redis and the proxy-router may come later: until then it is not
 * ready, and takes scans all the same where it can judge them. A process without the API answers probes on its port.
 */
export async function startControlPlane(config: Config, logger: Logger): Promise<ControlPlane> {
  const roles = rolesOf(config);
  const loopRoles = Object.entries(LOOP_ROLES).flatMap(([name, role]) => (roles.has(name as RoleName) ? [role] : []));
  const metrics = createMetrics();
  const platform = await openPlatform(config, metrics, logger);
  const http = await listen(config.ADSWEEP_HTTP_HOST, config.ADSWEEP_HTTP_PORT, 'ADSWEEP_HTTP_PORT');
  const publicUrl = config.ADSWEEP_PUBLIC_URL.replace(/\/+$/, '') || `http://127.0.0.1:${http.port}`;
  const domains = createDomains(platform, {
    publicUrl,
    joinTokens: config.ADSWEEP_NODE_TOKEN,
    leaseSecret: config.ADSWEEP_LEASE_SECRET,
    shards: config.ADSWEEP_QUEUE_SHARDS,
    retention: { scans: config.ADSWEEP_KEEP_SCANS_DAYS, evidence: config.ADSWEEP_KEEP_EVIDENCE_DAYS },
    ruleBudgetMs: config.ADSWEEP_RULE_BUDGET_MS,
    model: modelSettings(config),
    startBalanceMicros: config.ADSWEEP_START_BALANCE_MICROS ?? null,
  });
  await createIndexes(domains);
  await domains.analysis.addPlatformRules();

  const draining = new AbortController();
  const api = roles.has('api') ? await startApi(config, platform, metrics, domains, publicUrl, draining.signal) : null;
  const needs = needsOf(roles, loopRoles);
  const ready = readyChecks(platform, needs, () => api?.hasCatalogue() ?? false, draining.signal);
  serveApi(config, platform, metrics, domains, { server: http, api, ready });
  const forNodes = roles.has('node-api')
    ? await listen(config.ADSWEEP_NODE_API_HOST, config.ADSWEEP_NODE_API_PORT, 'ADSWEEP_NODE_API_PORT')
    : null;
  forNodes?.serve(nodeApi(config, platform, metrics, domains, ready).callback());
  await waitForRedis(platform);
  const loops = loopRoles.flatMap((role) => role.start(domains));

  const stops: Stop[] = [
    ['readiness', () => draining.abort()],
    ['API', () => http.close(API_GRACE_MS)],
    ['node API', () => forNodes?.close(NODE_API_GRACE_MS)],
    ['catalogue and pictures', () => api?.stop()],
    ['loops', async () => void (await Promise.all(loops.map((loop) => loop.stop())))],
    ['reservations', () => domains.accounts.settleReservations()],
    ['wake hints', () => platform.wake.stop()],
    ['broadcasts', () => platform.broadcast.stop()],
    ['redis', () => platform.redis.disconnect()],
    ['store', () => platform.store.close()],
  ];
  return { ports: { http: http.port, ...(forNodes ? { node_api: forNodes.port } : {}) }, stops };
}

function needsOf(roles: ReadonlySet<RoleName>, loopRoles: LoopRole[]): Set<Need> {
  return new Set([
    ...(roles.has('api') ? API_NEEDS : []),
    ...(roles.has('node-api') ? NODE_API_NEEDS : []),
    ...loopRoles.flatMap((role) => role.needs),
  ]);
}

type Served = { server: Listening; api: Api | null; ready: ReadyCheck[] };

function serveApi(
  config: Config,
  { logger }: Platform,
  { registry, seen }: Metrics,
  { accounts }: Domains,
  { server, api, ready }: Served,
): void {
  const app = createApp({
    routes: api?.routes ?? [],
    readyChecks: ready,
    logger,
    registry,
    metricsToken: config.ADSWEEP_METRICS_TOKEN || config.ADSWEEP_NODE_TOKEN,
    seen: seen('api'),
    docs: api !== null,
    admit: (authorization, permission, _params, setHeaders) =>
      authenticate(accounts.findCaller, authorization, permission, setHeaders),
  });
  server.serve(app.callback());
}
