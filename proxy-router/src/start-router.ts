import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { createRegistry } from '@adsweep/shared/service/metrics.ts';
import type { Stop } from '@adsweep/shared/service/shutdown.ts';
import { createApp } from './app.ts';
import { ExitSource } from './catalogue/exit-source.ts';
import type { Config } from './config.ts';
import { ExitHealth } from './exits/exit-health.ts';
import { Gateway } from './gateway/gateway.ts';
import { TicketAccounts } from './gateway/ticket-accounts.ts';
import { createMetrics } from './metrics.ts';
import type { Provider } from './providers/provider.ts';

const BUILT_IN_EXITS = fileURLToPath(new URL('../exits.default.json', import.meta.url));

/** A router that runs: where it listens, and what stops it, in order. */
export type RunningRouter = { ports: { api: number; gateway: number }; stops: Stop[] };

/** Starts the API and the gateway. Throws for exits that cannot be used and ports that are taken. */
export async function startRouter(
  config: Config,
  providers: Record<string, Provider>,
  logger: Logger,
): Promise<RunningRouter> {
  const registry = createRegistry('proxy-router');
  const metrics = createMetrics(registry);
  const health = new ExitHealth();
  const accounts = new TicketAccounts(config.ADSWEEP_TICKET_BYTES_MAX);
  const source = openSource(config, providers, logger);
  const host = config.ADSWEEP_PROXY_HOST;
  const port = config.ADSWEEP_PROXY_PORT;
  const ticketSecret = config.ADSWEEP_TICKET_SECRET;
  const shared = { source, providers, health, accounts, metrics, ticketSecret, logger };
  const gateway = new Gateway({
    ...shared,
    host,
    port: config.ADSWEEP_GATEWAY_PORT || (port === 0 ? 0 : port + 1),
    connectTimeoutMs: config.ADSWEEP_CONNECT_TIMEOUT_SECONDS * 1000,
    idleMs: config.ADSWEEP_GATEWAY_IDLE_SECONDS * 1000,
  });
  await gateway.listen();
  const state = { isReady: true };
  const app = createApp({
    ...shared,
    registry,
    nodeToken: config.ADSWEEP_NODE_TOKEN,
    gatewayUrl: (hostname) => config.ADSWEEP_GATEWAY_URL || `http://${hostname}:${gateway.port}`,
    isReady: () => state.isReady,
  });
  const api = createServer(app.callback());
  await listen(api, port, host).catch(async (error) => {
    await gateway.close(true);
    throw error;
  });
  source.watch(config.ADSWEEP_EXITS_CHECK_SECONDS * 1000);
  const stops: Stop[] = [
    [
      'readiness',
      () => {
        state.isReady = false;
      },
    ],
    ['watching the exits', () => source.stop()],
    ['the API', () => close(api)],
    ['the gateway', () => gateway.close(true)],
  ];
  return { ports: { api: (api.address() as AddressInfo).port, gateway: gateway.port }, stops };
}

function openSource(config: Config, providers: Record<string, Provider>, logger: Logger): ExitSource {
  const file = config.ADSWEEP_EXITS_FILE || BUILT_IN_EXITS;
  return new ExitSource({ file, snapshot: join(config.ADSWEEP_DATA_DIR, 'exits-snapshot.json'), providers }, logger);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
