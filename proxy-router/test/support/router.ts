import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { signedExitSession } from '@adsweep/shared/lease/exit-session.ts';
import { routerPass } from '@adsweep/shared/lease/router-pass.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Targeting } from '@adsweep/shared/targeting/catalogue.ts';
import type { ExitRequest, ExitTicket, TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import type { Config } from '../../src/config.ts';
import { connectTo } from '../../src/providers/connect-to.ts';
import { listProvider } from '../../src/providers/dial-upstream.ts';
import { directProvider } from '../../src/providers/direct.ts';
import type { ListedExit } from '../../src/providers/exit.ts';
import type { Provider } from '../../src/providers/provider.ts';
import type { ProviderConfig } from '../../src/providers/provider-config.ts';
import { startRouter } from '../../src/start-router.ts';

export const NODE_TOKEN = 'node-token-of-the-tests';
export const TICKET_SECRET = 'ticket-secret-of-the-tests';

export const logger = createLogger('proxy-router', 'silent');

export const exitIn = (country_code: string, more: Partial<ListedExit> = {}): ListedExit => ({
  id: `direct-${country_code.toLowerCase()}`,
  country_code,
  proxy_type: 'residential',
  pool_size: 1,
  provider: 'direct',
  ...more,
});

/** A vendor's account that nobody has. */
export const vendorConfig = (more: Partial<ProviderConfig> = {}): ProviderConfig => ({
  id: 'vendor',
  kind: 'template',
  endpoint: 'http://127.0.0.1:9',
  username: 'cust-42-cc-{country}[-city-{city}][-s-{session}]',
  password: 'secret',
  catalogue: 'places.json',
  ...more,
});

export const targeting = (more: Partial<Targeting> = {}): Targeting => ({
  country_code: 'US',
  proxy_type: 'residential',
  region: '',
  city: '',
  isp: '',
  ...more,
});

/**
 * A folder that goes away with the process: what runs in it stops in a later hook of the test than any that is registered here, and hooks run in
 * the order of their registration.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-router-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type RouterOptions = {
  exits?: ListedExit[];
  providers?: ProviderConfig[];
  hosts?: Record<string, string>;
  config?: Partial<Config>;
  /** The provider `direct`, or how to make it for the router's address policy. */
  provider?: Provider | ((addresses: AddressPolicy) => Provider);
};

/** All public addresses, whatever this machine's own are. */
export const PUBLIC_ADDRESSES = new AddressPolicy([], () => []);

/** No name resolves and nothing public is dialled unless a test says how: no test leaves this machine. */
export const closedProvider = (): Provider =>
  directProvider(
    async () => {
      throw new Error('this test resolves no names');
    },
    connectTo,
    PUBLIC_ADDRESSES,
  );

/** A router on free ports, over an exits file of its own; stopped with the test. */
export async function startTestRouter(t: TestContext, options: RouterOptions = {}) {
  const folder = temporaryFolder();
  const file = join(folder, 'exits.json');
  const { exits = options.providers ? [] : [exitIn('US')], providers = [], hosts = {} } = options;
  writeFileSync(file, JSON.stringify({ exits, providers, hosts }));
  const config: Config = {
    ADSWEEP_PROXY_HOST: '127.0.0.1',
    ADSWEEP_PROXY_PORT: 0,
    ADSWEEP_PROXY_TLS_CERTIFICATE: '',
    ADSWEEP_PROXY_TLS_KEY: '',
    ADSWEEP_PROXY_TLS_CLIENT_CA: '',
    ADSWEEP_GATEWAY_TLS: 'off',
    ADSWEEP_TLS_CA: '',
    ADSWEEP_TLS_CLIENT_CERTIFICATE: '',
    ADSWEEP_TLS_CLIENT_KEY: '',
    ADSWEEP_GATEWAY_PORT: 0,
    ADSWEEP_GATEWAY_URL: '',
    ADSWEEP_EXITS_FILE: file,
    ADSWEEP_REPLICA_URL: '',
    ADSWEEP_EXIT_CHECK_URL: '',
    ADSWEEP_GATEWAY_CONNECTIONS_MAX: 10_000,
    ADSWEEP_GATEWAY_HEADERS_SECONDS: 15,
    ADSWEEP_GATEWAY_REQUESTS_PER_SECOND: 10_000,
    ADSWEEP_DRAIN_SECONDS: 0,
    ADSWEEP_EXITS_BASE_FILE: '',
    ADSWEEP_EXITS_CHECK_SECONDS: 0.02,
    ADSWEEP_CATALOGUE_REFRESH_SECONDS: 21_600,
    ADSWEEP_DATA_DIR: join(folder, 'data'),
    ADSWEEP_NODE_TOKEN: NODE_TOKEN,
    ADSWEEP_TICKET_SECRET: TICKET_SECRET,
    ADSWEEP_TICKET_BYTES_MAX: 200_000_000,
    ADSWEEP_CONNECT_TIMEOUT_SECONDS: 5,
    ADSWEEP_GATEWAY_IDLE_SECONDS: 30,
    ADSWEEP_DENY_ADDRESSES: '',
    ADSWEEP_METRICS_TOKEN: '',
    ADSWEEP_LOG_LEVEL: 'silent',
    OTEL_EXPORTER_OTLP_ENDPOINT: '',
    OTEL_EXPORTER_OTLP_HEADERS: '',
    OTEL_TRACES_SAMPLER_ARG: '1',
    ...options.config,
  };
  const { provider = closedProvider() } = options;
  const direct = (addresses: AddressPolicy) => (typeof provider === 'function' ? provider(addresses) : provider);
  const createProviders = (addresses: AddressPolicy) => ({ direct: direct(addresses), list: listProvider });
  const { ports, stops } = await startRouter(config, createProviders, logger);
  const stop = async () => {
    for (const [, stopPart] of stops.splice(0)) await stopPart();
  };
  t.after(stop);
  return { file, config, ports, stop, ...apiClient(`http://127.0.0.1:${ports.api}`) };
}

/** Calls of the router's API at `base` with the join token, or another credential. */
export function apiClient(base: string, credential = NODE_TOKEN) {
  const call = (method: string, path: string, body?: unknown, signal: AbortSignal | null = null) =>
    fetch(`${base}${path}`, {
      method,
      signal,
      headers: { authorization: `Bearer ${credential}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  return {
    call,
    async ticket(more: Partial<ExitRequest> = {}, signal: AbortSignal | null = null): Promise<ExitTicket> {
      const asked = { targeting: targeting(), session: 'session-1', scan_id: 'scan-1', ttl_seconds: 60, ...more };
      const answer = await call('POST', '/exits', asked, signal);
      if (answer.status !== 201) throw new Error(`POST /exits was answered ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as ExitTicket;
    },
    async traffic(ticket: ExitTicket): Promise<TicketTraffic> {
      return (await (await call('GET', `/exits/${ticket.ticket_id}/traffic`)).json()) as TicketTraffic;
    },
  };
}

/** The exit session of a lease that an enrolled node got at `at`, Unix time in ms, for so many attempts. */
export const leasedSession = (node: string, attempts = 1, at = Date.now()): string =>
  signedExitSession(NODE_TOKEN, { jobId: randomUUID(), fence: at * 1_000 }, node, attempts);

/** Calls of an enrolled node; each of its tickets is for another lease unless it says otherwise. */
export function enrolledClient(base: string, node: string) {
  const client = apiClient(base, routerPass(NODE_TOKEN, node, new Date()));
  return {
    ...client,
    ticket: (more: Partial<ExitRequest> = {}) => client.ticket({ session: leasedSession(node), ...more }),
  };
}
