import { ConfigError, loadConfig, unreadSettings } from '@adsweep/shared/service/load-config.ts';
import {
  denyAddressesSetting,
  logLevelSetting,
  metricsTokenSetting,
  portSetting,
  secretSetting,
  secretsSetting,
  switchSetting,
  urlSetting,
} from '@adsweep/shared/service/settings.ts';
import { tlsClientFiles, tlsClientProperties } from '@adsweep/shared/service/tls-client.ts';
import { certificateSetting, clientCaSetting, keySetting, tlsFilesOf } from '@adsweep/shared/service/tls-files.ts';
import { tracingProperties } from '@adsweep/shared/tracing/settings.ts';
import { type Static, Type } from 'typebox';

/** Settings of the proxy-router. A test compares them with the table in the README. */
export const ConfigSchema = Type.Object({
  ADSWEEP_PROXY_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that the API and the gateway listen on.',
  }),
  // Below 65535: the gateway takes the next port.
  ADSWEEP_PROXY_PORT: portSetting(
    8082,
    'Port of the API; the gateway takes the next one. 0: any free port for each.',
    65_534,
  ),
  ADSWEEP_PROXY_TLS_CERTIFICATE: certificateSetting('the API'),
  ADSWEEP_PROXY_TLS_KEY: keySetting('the API'),
  ADSWEEP_PROXY_TLS_CLIENT_CA: clientCaSetting('the API'),
  ADSWEEP_GATEWAY_TLS: switchSetting(
    'off',
    'on: the gateway has the same certificate as the API, with the same demand on its clients. Needs an `ADSWEEP_GATEWAY_URL` with https.',
  ),
  ...tlsClientProperties,
  ADSWEEP_GATEWAY_PORT: portSetting(0, 'Port of the gateway. 0: the one after the API’s.'),
  ADSWEEP_GATEWAY_URL: urlSetting({
    default: '',
    pattern: '^(https?://[^/]+)?$',
    mustBe: 'an http or https URL without a path',
    description:
      'URL under which nodes reach the gateway. Empty: the host of their requests to the API, with the gateway’s port.',
  }),
  ADSWEEP_REPLICA_URL: urlSetting({
    default: '',
    pattern: '^(https?://[^/?#]+/?)?$',
    mustBe: 'an http or https URL without a path',
    description:
      'URL of this replica’s API for the other replicas; its gateway is reached at the same host. Empty: there is one replica.',
  }),
  ADSWEEP_EXITS_FILE: Type.String({
    default: '',
    description: 'Path of the exits file. Empty: the built-in direct exits.',
  }),
  ADSWEEP_EXITS_BASE_FILE: Type.String({
    default: '',
    description:
      'Path of an exits file with defaults: its host mappings for hosts that `ADSWEEP_EXITS_FILE` does not map, and its exits if that file has neither exits nor providers.',
  }),
  ADSWEEP_EXITS_CHECK_SECONDS: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 3600,
    description: 'Interval in seconds at which the exits file is read.',
  }),
  ADSWEEP_CATALOGUE_REFRESH_SECONDS: Type.Integer({
    default: 21_600,
    minimum: 1,
    maximum: 604_800,
    description: 'Interval in seconds at which a provider’s catalogue is fetched from its URL.',
  }),
  ADSWEEP_EXIT_CHECK_URL: urlSetting({
    default: '',
    pattern: '^(https?://.+)?$',
    mustBe: 'an http or https URL',
    description:
      'URL of a service that returns its client’s `{ "ip", "country_code", "asn", "isp" }`, requested through each new exit session. Empty: exits are not checked.',
  }),
  ADSWEEP_DATA_DIR: Type.String({
    default: './.adsweep',
    description: 'Folder for the snapshot of the exits and the journal of tickets. Each replica needs its own.',
  }),
  ADSWEEP_NODE_TOKEN: secretsSetting('Bearer tokens that the API accepts, separated by commas.'),
  ADSWEEP_TICKET_SECRET: secretSetting('Key that signs exit tickets. Must be the same on all replicas.'),
  ADSWEEP_TICKET_BYTES_MAX: Type.Integer({
    default: 600_000_000,
    minimum: 1,
    description:
      'Maximum number of bytes that one ticket may transfer, both directions together; the kind of job usually allows fewer.',
  }),
  ADSWEEP_CONNECT_TIMEOUT_SECONDS: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 120,
    description: 'Timeout in seconds for resolving a target and connecting to it.',
  }),
  ADSWEEP_GATEWAY_IDLE_SECONDS: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'Seconds without traffic after which a connection is closed.',
  }),
  ADSWEEP_GATEWAY_CONNECTIONS_MAX: Type.Integer({
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Maximum number of concurrent connections of browsers to the gateway; further ones are closed. One ticket may have a quarter of them.',
  }),
  ADSWEEP_GATEWAY_REQUESTS_PER_SECOND: Type.Integer({
    default: 50,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Maximum number of requests per second that one ticket may make to one host, averaged over 10 s; further ones are answered 590. A tunnel counts once.',
  }),
  ADSWEEP_GATEWAY_HEADERS_SECONDS: Type.Integer({
    default: 15,
    minimum: 1,
    maximum: 300,
    description: 'Timeout in seconds for the headers of a request to the gateway.',
  }),
  ADSWEEP_DRAIN_SECONDS: Type.Integer({
    default: 30,
    minimum: 0,
    maximum: 3600,
    description: 'Seconds that open connections may continue when the router stops; new ones are refused meanwhile.',
  }),
  ADSWEEP_DENY_ADDRESSES: denyAddressesSetting,
  ADSWEEP_METRICS_TOKEN: metricsTokenSetting,
  ADSWEEP_LOG_LEVEL: logLevelSetting,
  ...tracingProperties,
});

export type Config = Static<typeof ConfigSchema>;

/** The settings of this process. Throws ConfigError with all problems. */
export const readConfig = (env: NodeJS.ProcessEnv = process.env): Config =>
  loadConfig(ConfigSchema, env, [], [gatewayTls, tlsClientFiles]);

/** Variables of ours that are set and are no settings of this service. */
export const unreadVariables = (env: NodeJS.ProcessEnv = process.env): string[] =>
  unreadSettings(Object.keys(ConfigSchema.properties), env);

/** The API's certificate, null: it serves http. Throws ConfigError for a certificate without its key. */
export const apiTls = (config: Config) =>
  tlsFilesOf(config, 'ADSWEEP_PROXY_TLS_CERTIFICATE', 'ADSWEEP_PROXY_TLS_KEY', 'ADSWEEP_PROXY_TLS_CLIENT_CA');

/** The gateway's certificate, null: it serves http. Throws ConfigError for settings that do not fit together. */
export function gatewayTls(config: Config) {
  const files = apiTls(config);
  const hasUrl = config.ADSWEEP_GATEWAY_URL.startsWith('https:');
  if (config.ADSWEEP_GATEWAY_TLS === 'off') return null;
  if (!files || !hasUrl)
    throw new ConfigError([
      'ADSWEEP_GATEWAY_TLS needs ADSWEEP_PROXY_TLS_CERTIFICATE, and an ADSWEEP_GATEWAY_URL with https',
    ]);
  return files;
}
