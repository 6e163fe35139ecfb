import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listen, portProblem } from '@adsweep/shared/service/listen.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { createRegistry } from '@adsweep/shared/service/metrics.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { makePrivateFolder } from '@adsweep/shared/service/private-folder.ts';
import type { Stop } from '@adsweep/shared/service/shutdown.ts';
import { openTlsClient, tlsClientFiles } from '@adsweep/shared/service/tls-client.ts';
import { splitAddressBlocks } from '@adsweep/shared/urls/address-blocks.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { createApp } from './api/create-app.ts';
import { apiTls, type Config, gatewayTls } from './config.ts';
import { describeProviders } from './exits/describe-providers.ts';
import { ExitCheck } from './exits/exit-check.ts';
import { ExitHealth } from './exits/exit-health.ts';
import { ExitSource } from './exits/exit-source.ts';
import { loadExits } from './exits/load-exits.ts';
import { SessionExits } from './exits/pick-exit.ts';
import { TicketCounts } from './exits/ticket-counts.ts';
import { fetchCatalogue } from './exits/vendor-catalogues.ts';
import { failureText } from './gateway/forward-request.ts';
import { Gateway } from './gateway/gateway.ts';
import { createMetrics, measureProviders } from './metrics.ts';
import type { Provider } from './providers/provider.ts';
import { TicketJournal } from './tickets/ticket-journal.ts';
import { TicketRegistry } from './tickets/ticket-registry.ts';

const BUILT_IN_EXITS = fileURLToPath(new URL('../exits.default.json', import.meta.url));

/** How long requests in progress may take when the process is told to stop. */
const API_GRACE_MS = 1_000;

/** A running router: the ports it listens on, and the steps that stop it, in order. */
export type RunningRouter = { ports: { api: number; gateway: number }; stops: Stop[] };

/**
 * Starts the API and the gateway. Throws OperatorError for a data folder or exits that cannot be used, and for ports
 * that are taken.
 */
export async function startRouter(
  config: Config,
  createProviders: (policy: AddressPolicy) => Record<string, Provider>,
  logger: Logger,
): Promise<RunningRouter> {
  makePrivateFolder(config.ADSWEEP_DATA_DIR);
  const registry = createRegistry('proxy-router');
  const metrics = createMetrics(registry);
  const health = new ExitHealth();
  const counts = new TicketCounts();
  const tickets = new TicketRegistry(config.ADSWEEP_TICKET_BYTES_MAX, openJournal(config.ADSWEEP_DATA_DIR), counts);
  const policy = new AddressPolicy(splitAddressBlocks(config.ADSWEEP_DENY_ADDRESSES));
  const source = openSource(config, createProviders(policy), health, logger);
  const { ADSWEEP_PROXY_HOST: host, ADSWEEP_PROXY_PORT: port, ADSWEEP_TICKET_SECRET: ticketSecret } = config;
  const shared = { source, policy, health, tickets, metrics, ticketSecret, logger };
  const ownApi = config.ADSWEEP_REPLICA_URL.replace(/\/+$/, '');
  measureProviders(registry, () => describeProviders(source, health, performance.now()));
  const gatewayPort = config.ADSWEEP_GATEWAY_PORT || (port === 0 ? 0 : port + 1);
  const peers = openTlsClient(tlsClientFiles(config), failureText('upstream_failed'), logger);
  const tlsOfGateway = gatewayTls(config);
  const gateway = new Gateway({
    ...shared,
    tls: tlsOfGateway,
    reach: (url) => peers.reach(url, true),
    host,
    port: gatewayPort,
    ownApi,
    connectionsMax: config.ADSWEEP_GATEWAY_CONNECTIONS_MAX,
    // A quarter: the page of one scan cannot use up the connections of all others.
    streamsMax: Math.ceil(config.ADSWEEP_GATEWAY_CONNECTIONS_MAX / 4),
    headersMs: config.ADSWEEP_GATEWAY_HEADERS_SECONDS * 1000,
    requestsPerSecond: config.ADSWEEP_GATEWAY_REQUESTS_PER_SECOND,
    connectTimeoutMs: config.ADSWEEP_CONNECT_TIMEOUT_SECONDS * 1000,
    idleMs: config.ADSWEEP_GATEWAY_IDLE_SECONDS * 1000,
  });
  await gateway.listen().catch((error) => {
    throw portProblem(host, gatewayPort, 'ADSWEEP_GATEWAY_PORT', error, 'ADSWEEP_PROXY_HOST');
  });
  const draining = new AbortController();
  const app = createApp({
    ...shared,
    counts,
    sessions: new SessionExits(),
    check: new ExitCheck(shared, config.ADSWEEP_EXIT_CHECK_URL),
    reach: (url: string) => peers.reach(url),
    replica:
      ownApi === ''
        ? null
        : { api: ownApi, gateway: `${tlsOfGateway ? 'https' : 'http'}://${new URL(ownApi).hostname}:${gateway.port}` },
    registry,
    nodeTokens: config.ADSWEEP_NODE_TOKEN,
    metricsToken: config.ADSWEEP_METRICS_TOKEN || config.ADSWEEP_NODE_TOKEN,
    gatewayUrl: (hostname) => config.ADSWEEP_GATEWAY_URL || `http://${hostname}:${gateway.port}`,
    isReady: () => !draining.signal.aborted,
  });
  const tls = apiTls(config);
  const api = await listen(host, port, 'ADSWEEP_PROXY_PORT', {}, tls && { files: tls, logger }).catch(async (error) => {
    await gateway.close(true);
    throw error;
  });
  api.serve(app.callback());
  tickets.start(logger);
  source.watch(config.ADSWEEP_EXITS_CHECK_SECONDS * 1000);
  const stops: Stop[] = [
    ['readiness', () => draining.abort()],
    ['watching the exits', () => source.stop()],
    // The API stays up while it drains: nodes still ask for the traffic of tunnels that end meanwhile.
    ['the gateway', () => gateway.drain(config.ADSWEEP_DRAIN_SECONDS * 1000)],
    ['the API', () => api.close(API_GRACE_MS)],
    ['connections to other replicas', () => peers.close()],
    ['the tickets', () => tickets.stop(Date.now())],
  ];
  return { ports: { api: api.port, gateway: gateway.port }, stops };
}

function openSource(
  config: Config,
  providers: Record<string, Provider>,
  health: ExitHealth,
  logger: Logger,
): ExitSource {
  const inDataDir = (name: string) => join(config.ADSWEEP_DATA_DIR, name);
  const { ADSWEEP_EXITS_FILE: own, ADSWEEP_EXITS_BASE_FILE: base } = config;
  const options = {
    file: own || base || BUILT_IN_EXITS,
    base: own && base ? loadExits(base, Object.keys(providers), null).file : null,
    snapshot: inDataDir('exits-snapshot.json'),
    catalogueSnapshot: inDataDir('catalogues-snapshot.json'),
    catalogueRefreshMs: config.ADSWEEP_CATALOGUE_REFRESH_SECONDS * 1000,
    fetchCatalogue,
    providers,
    reconnected: (id: string) => health.forget(id),
  };
  return new ExitSource(options, logger);
}

function openJournal(folder: string): TicketJournal {
  const path = join(folder, 'exit-tickets.jsonl');
  try {
    return new TicketJournal(path, Date.now());
  } catch (error) {
    throw new OperatorError(`${path}, the journal of exit tickets, cannot be used: ${(error as Error).message}`);
  }
}
