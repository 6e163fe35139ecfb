import { setTimeout as sleep } from 'node:timers/promises';
import { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { type Listening, listen } from '@adsweep/shared/service/listen.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Stop } from '@adsweep/shared/service/shutdown.ts';
import { openTlsClient, tlsClientFiles } from '@adsweep/shared/service/tls-client.ts';
import { splitAddressBlocks } from '@adsweep/shared/urls/address-blocks.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { type Config, formSettings, modelSettings, nodeApiTls, rolesOf } from '../config.ts';
import { readScalerFile } from '../crawling/scaler/scaler-file.ts';
import { createMetrics, measureProcess } from '../metrics.ts';
import { serveBackups } from '../platform/backup/backup-socket.ts';
import type { Platform } from '../platform/platform.ts';
import { clientApp, nodeApp, probesApp } from './create-app.ts';
import { createDomains, createIndexes, type Settings } from './domains.ts';
import { openPlatform, waitForRedis } from './open-platform.ts';
import { readyChecks } from './readiness.ts';
import { needsOf, startLoops } from './roles.ts';

/**
 * A running control plane: where it listens, its clients' base URL, whether this start stored the first API key, and
 * what to stop, in order.
 */
export type ControlPlane = {
  ports: { http: number; node_api?: number };
  publicUrl: string;
  storedFirstKey: boolean;
  stops: Stop[];
};

/** How long a client's request may take to arrive: a megabyte at the most. Files of nodes have longer. */
const API_REQUEST_MS = 30_000;
/** How long requests under way may take when the process is told to stop; nodes' long polls would wait longer. */
const API_GRACE_MS = 3_000;
const NODE_API_GRACE_MS = 1_000;

/**
 * Starts the roles of this process. It needs its store and its ports; Redis and the proxy-router may come later: until
 * then it is not ready, and accepts scans all the same where it can check them. A process without the API answers
 * probes on its port.
 */
export async function startControlPlane(config: Config, logger: Logger): Promise<ControlPlane> {
  const roles = rolesOf(config);
  const [metrics, draining, closing] = [createMetrics(), new AbortController(), new AbortController()];
  const platform = await openPlatform(config, metrics, logger, closing.signal);
  const { ADSWEEP_HTTP_HOST: host, ADSWEEP_HTTP_PORT: port } = config;
  const http = await listen(host, port, 'ADSWEEP_HTTP_PORT', { requestMs: API_REQUEST_MS });
  const publicUrl = config.ADSWEEP_PUBLIC_URL.replace(/\/+$/, '') || `http://127.0.0.1:${http.port}`;
  const services = openTlsClient(tlsClientFiles(config), '', logger);
  const proxyUrl = await services.reach(config.ADSWEEP_PROXY_URL);
  const domains = createDomains(platform, settingsOf(config, publicUrl, proxyUrl));
  const { accounts, analysis, reference } = domains;
  await createIndexes(platform, domains);
  await analysis.verbs.addPlatformRules();
  const stopBackups = await serveBackupsOf(config, platform);
  const storedFirstKey = roles.has('api') && (await accounts.verbs.setFirstKey(config.ADSWEEP_API_KEY));

  const hasCatalogue = () => reference.verbs.readCatalogue() !== null;
  const needs = needsOf(roles);
  const ready = readyChecks(platform, needs, hasCatalogue, draining.signal);
  measureProcess(metrics.registry, { roles, checks: ready, disk: needs.has('disk') ? platform.disk : null });
  const metricsToken = config.ADSWEEP_METRICS_TOKEN || config.ADSWEEP_NODE_TOKEN;
  const surface = { platform, metrics, domains, metricsToken, readyChecks: ready };
  // What the API reads is there when it is served; the other loops wait for Redis.
  const { api = [], others = [] } = Object.groupBy(roles, (role) => (role === 'api' ? 'api' : 'others'));
  const apiLoops = await startLoops(domains, api);
  const mcpUrl = config.ADSWEEP_MCP === 'on' ? ownUrl(host, http.port) : null;
  const consoleUrl = config.ADSWEEP_CONSOLE === 'on' ? ownUrl(host, http.port) : null;
  const served = { publicUrl, mcpUrl, consoleUrl };
  http.serve((roles.has('api') ? clientApp(surface, served) : probesApp(surface)).callback());
  const forNodes = roles.has('node-api') ? await listenForNodes(config, logger) : null;
  forNodes?.serve(nodeApp(surface).callback());
  await waitForRedis(platform);
  const loops = [...apiLoops, ...(await startLoops(domains, others))];

  const stopReady = () => {
    draining.abort();
    http.drain();
    forNodes?.drain();
  };
  const stops: Stop[] = [
    ['readiness', stopReady],
    ['notice to balancers', () => sleep(config.ADSWEEP_SHUTDOWN_DELAY_SECONDS * 1_000)],
    ['streams and polls', () => closing.abort()],
    ['API', () => http.close(API_GRACE_MS)],
    ['node API', () => forNodes?.close(NODE_API_GRACE_MS)],
    ['loops', async () => void (await Promise.all(loops.map((loop) => loop.stop())))],
    ['reservations', () => accounts.verbs.writeFinishedReservations()],
    ['wake hints', () => platform.wake.stop()],
    ['broadcasts', () => platform.broadcast.stop()],
    ['connections to services', () => services.close()],
    ['redis', () => platform.redis.disconnect()],
    ['backups', stopBackups],
    ['store', () => platform.store.close()],
  ];
  const ports = { http: http.port, ...(forNodes ? { node_api: forNodes.port } : {}) };
  return { ports, publicUrl, storedFirstKey, stops };
}

/** Where a process reaches what it listens on itself. */
function ownUrl(host: string, port: number): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** Backups of an embedded store are made by the process that has it open. */
async function serveBackupsOf(config: Config, { store, logger }: Platform): Promise<() => Promise<void>> {
  if (!store.backUp) return async () => {};
  const parts = { store, dataDir: config.ADSWEEP_DATA_DIR, inBucket: config.ADSWEEP_S3_BUCKET !== '' };
  return serveBackups(parts, logger);
}

function listenForNodes(config: Config, logger: Logger): Promise<Listening> {
  const { ADSWEEP_NODE_API_HOST: host, ADSWEEP_NODE_API_PORT: port } = config;
  const tls = nodeApiTls(config);
  return listen(host, port, 'ADSWEEP_NODE_API_PORT', {}, tls && { files: tls, logger });
}

/** The settings of the domains. */
function settingsOf(config: Config, publicUrl: string, proxyUrl: string): Settings {
  return {
    publicUrl,
    hasConsole: config.ADSWEEP_CONSOLE === 'on',
    dataDir: config.ADSWEEP_DATA_DIR,
    addresses: new AddressPolicy(splitAddressBlocks(config.ADSWEEP_DENY_ADDRESSES)),
    egress: new EgressPolicy(
      splitAddressBlocks(config.ADSWEEP_DELIVERY_ALLOW),
      splitAddressBlocks(config.ADSWEEP_DENY_ADDRESSES),
    ),
    telegramApiUrl: config.ADSWEEP_TELEGRAM_API_URL.replace(/\/+$/, ''),
    proxyUrl,
    catalogueEveryMs: config.ADSWEEP_CATALOGUE_SECONDS * 1000,
    joinTokens: config.ADSWEEP_NODE_TOKEN,
    leaseSecret: config.ADSWEEP_LEASE_SECRET,
    oauthRegistration: config.ADSWEEP_OAUTH_REGISTRATION === 'on',
    shards: config.ADSWEEP_QUEUE_SHARDS,
    scaler:
      config.ADSWEEP_SCALER === 'off'
        ? null
        : { dryRun: config.ADSWEEP_SCALER === 'dry-run', file: readScalerFile(config.ADSWEEP_SCALER_FILE) },
    retention: { scans: config.ADSWEEP_KEEP_SCANS_DAYS, evidence: config.ADSWEEP_KEEP_EVIDENCE_DAYS },
    ruleBudgetMs: config.ADSWEEP_RULE_BUDGET_MS,
    model: modelSettings(config),
    checkPriceMicros: config.ADSWEEP_CHECK_PRICE_MICROS,
    startBalanceMicros: config.ADSWEEP_START_BALANCE_MICROS ?? null,
    storedMbPerDay: config.ADSWEEP_STORED_MB_PER_DAY,
    ...formSettings(config),
  };
}
