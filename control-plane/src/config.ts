import { ConfigError, loadConfig, unreadSettings } from '@adsweep/shared/service/load-config.ts';
import {
  addressBlocksSetting,
  deliveryAllowSetting,
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
import { splitAddressBlocks } from '@adsweep/shared/urls/address-blocks.ts';
import { type Static, type TObject, Type } from 'typebox';
import { bucketProperties, bucketSettings } from './platform/objects/bucket-settings.ts';
import { isRedisUrl } from './platform/redis-url.ts';

/** The roles of the control plane; each process has one, several or all of them. */
export const ROLES = [
  'api',
  'node-api',
  'checks',
  'relay',
  'dispatcher',
  'reaper',
  'refill',
  'scheduler',
  'sweeper',
  'scaler',
] as const;
export type RoleName = (typeof ROLES)[number];

const splitRoles = (list: string): string[] => list.split(',').map((name) => name.trim());
const splitList = (list: string): string[] =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;
const isRole = (name: string): name is RoleName => ROLES.some((role) => role === name);

const tokenPriceSetting = (description: string) =>
  Type.Integer({ default: 0, minimum: 0, maximum: 1_000_000_000_000, description });

const apiKeySetting = (description: string) =>
  Type.String({
    default: '',
    secret: true,
    pattern: '^[\\x21-\\x7e]*$',
    mustBe: 'letters, digits and punctuation, without spaces',
    description,
  });

const daysSetting = (description: string) => Type.Integer({ default: 0, minimum: 0, maximum: 36_500, description });

/** Settings of the control plane. The README shows the same table; a test compares them. */
export const ConfigSchema = Type.Object({
  ADSWEEP_ROLES: Type.Refine(
    Type.String({
      default: '',
      description: `Roles of this process, separated by commas: ${ROLES.map((role) => `\`${role}\``).join(', ')}. Empty: all of them.`,
    }),
    (list) => list === '' || splitRoles(list).every(isRole),
    () => `Must be some of ${ROLES.join(', ')}, separated by commas.`,
  ),
  ADSWEEP_HTTP_HOST: Type.String({ default: '127.0.0.1', description: 'Address that the API listens on.' }),
  ADSWEEP_HTTP_PORT: portSetting(8080, 'Port of the API. 0: any free port.'),
  ADSWEEP_NODE_API_HOST: Type.String({ default: '127.0.0.1', description: 'Address that the node API listens on.' }),
  ADSWEEP_NODE_API_PORT: portSetting(8081, 'Port of the node API. 0: any free port.'),
  ADSWEEP_SHUTDOWN_DELAY_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 300,
    description:
      'Seconds after a SIGTERM during which requests are still served while `/readyz` answers 503, so that a balancer in front sends its next ones elsewhere. Requests that have begun by then have up to 3 s more.',
  }),
  ADSWEEP_NODE_API_TLS_CERTIFICATE: certificateSetting('the node API'),
  ADSWEEP_NODE_API_TLS_KEY: keySetting('the node API'),
  ADSWEEP_NODE_API_TLS_CLIENT_CA: clientCaSetting('the node API'),
  ...tlsClientProperties,
  ADSWEEP_PUBLIC_URL: urlSetting({
    default: '',
    pattern: '^(https?://[^?#]+)?$',
    mustBe: 'an http or https URL without ? and #',
    description: 'Base URL that clients use, for links in responses. Empty: `http://127.0.0.1:<port>`.',
  }),
  ADSWEEP_DATA_DIR: Type.String({
    default: './.adsweep',
    description: 'Folder for artifacts (`objects/`) and, without MongoDB, the records (`store.db`).',
  }),
  ...bucketProperties,
  MONGODB_URL: Type.String({
    default: '',
    secret: true,
    description: 'URL of the MongoDB deployment for the records. Empty: the embedded store.',
  }),
  REDIS_URL: urlSetting(
    {
      default: 'redis://127.0.0.1:6379',
      secret: true,
      pattern: '^(rediss?(\\+cluster)?://|unix:///)',
      mustBe: 'a URL that begins with redis://, rediss://, redis+cluster:// or unix:///',
      description:
        'URL of the Redis, 7.0 or newer, for the index of work: `redis://`, `rediss://` or `unix:///path`; `redis+cluster://host:port,host:port` for a Redis Cluster.',
    },
    isRedisUrl,
  ),
  ADSWEEP_QUEUE_SHARDS: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 256,
    description:
      'Number of queues among which the organizations are distributed, for a Redis Cluster. Must be the same on all replicas; change it only while all of them are stopped.',
  }),
  ADSWEEP_PROXY_URL: urlSetting({
    default: 'http://127.0.0.1:8082',
    pattern: '^https?://[^?#]+$',
    mustBe: 'an http or https URL without ? and #',
    description: "Base URL of the proxy-router's API.",
  }),
  ADSWEEP_CATALOGUE_SECONDS: Type.Integer({
    default: 5,
    minimum: 1,
    maximum: 3600,
    description: "Interval in seconds at which the proxy-router's catalogue is read.",
  }),
  ADSWEEP_NODE_TOKEN: secretsSetting(
    'Join tokens that nodes register with, separated by commas. The control plane authenticates at the proxy-router with the first one.',
  ),
  ADSWEEP_LEASE_SECRET: secretSetting('Key that signs lease tokens. Must be the same on all replicas.'),
  ADSWEEP_SECRETS_KEY: Type.String({
    default: '',
    secret: true,
    pattern: '^([\\x21-\\x2b\\x2d-\\x7e]{16,}(,[\\x21-\\x2b\\x2d-\\x7e]{16,})?)?$',
    mustBe: 'one key of at least 16 characters without spaces, or two separated by a comma',
    description:
      'Key that encrypts stored secrets of clients (webhooks, destinations). With two, separated by a comma, the first encrypts and both decrypt. Must be the same on all replicas. Empty: a key in `secrets.key` of `ADSWEEP_DATA_DIR`, made at the first start.',
  }),
  ADSWEEP_API_KEY: apiKeySetting('API key of the first organization, created at start. Empty: none is created.'),
  ADSWEEP_PRINT_FIRST_KEY: switchSetting(
    'off',
    'on: the start that stores the first API key prints `adsweep ready <base url> key <key>`: everybody who can read its log has that key.',
  ),
  ADSWEEP_OAUTH_REGISTRATION: switchSetting(
    'off',
    'on: everybody may register an OAuth client at `/oauth/register`; such a client gets no permission but those that a person consents to, and is removed if nobody does within a day.',
  ),
  ADSWEEP_MCP: switchSetting('on', 'on: assistants can call the API as tools at `/mcp` (Model Context Protocol).'),
  ADSWEEP_CONSOLE: switchSetting(
    'on',
    'Whether `/console` has pages for people, who sign in with an API key or by OAuth.',
  ),
  ADSWEEP_CHECK_PRICE_MICROS: Type.Integer({
    default: 10_000,
    minimum: 0,
    maximum: 1_000_000_000_000,
    description: 'Price of a check, in millionths of the currency.',
  }),
  ADSWEEP_START_BALANCE_MICROS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100_000_000_000_000,
      defaultInWords: 'empty',
      description:
        'Initial balance of each organization, in millionths of the currency; an organization cannot spend more than its balance. Empty: no balance is enforced.',
    }),
  ),
  ADSWEEP_DISK_FLOOR_MB: Type.Integer({
    default: 256,
    minimum: 0,
    maximum: 1_000_000_000,
    description:
      'Minimum free space in megabytes on the disk of `ADSWEEP_DATA_DIR`. Below it, no jobs are leased and uploads are refused. 0: no minimum.',
  }),
  ADSWEEP_STORED_MB_PER_DAY: Type.Integer({
    default: 1_024,
    minimum: 0,
    maximum: 1_000_000,
    description:
      'Megabytes of ad tags and VAST documents, and as many of answers for an `Idempotency-Key`, that an organization may store in a day (UTC). Beyond them, requests that would store more get 429. 0: no bound.',
  }),
  ADSWEEP_KEEP_SCANS_DAYS: daysSetting(
    'Days after its end at which a scan is deleted, with its report, capture and screenshots. Its ledger entries and alerts remain. 0: never.',
  ),
  ADSWEEP_KEEP_EVIDENCE_DAYS: daysSetting(
    "Days after a scan's end at which its capture and screenshots are deleted; the scan itself remains. 0: they are deleted with the scan.",
  ),
  ADSWEEP_RULE_BUDGET_MS: Type.Integer({
    default: 2_000,
    minimum: 10,
    maximum: 60_000,
    description:
      "CPU time in milliseconds that all rules of one scan may use together. The platform's rules run first; rules beyond the budget are skipped.",
  }),
  ADSWEEP_SCALER: Type.String({
    default: 'off',
    pattern: '^(off|dry-run|on)$',
    mustBe: 'off, dry-run or on',
    description:
      'on: the role `scaler` starts and removes browser nodes on Docker hosts. dry-run: it only records its decisions (`GET /api/v1/fleet/decisions`).',
  }),
  ADSWEEP_SCALER_FILE: Type.String({
    default: '',
    description:
      'Path of the JSON file with the hosts, limits and container of the scaler. Required unless it is `off`.',
  }),
  ADSWEEP_AI_BASE_URL: urlSetting({
    default: '',
    pattern: '^(https?://[^?#]+)?$',
    mustBe: 'an http or https URL without ? and #',
    description:
      'Base URL of an OpenAI-compatible API, such as `https://api.openai.com/v1`, whose model classifies scans. Empty: AI is switched off.',
  }),
  ADSWEEP_AI_API_KEY: apiKeySetting('Key for that API. Empty: none is sent.'),
  ADSWEEP_AI_MODEL: Type.String({ default: '', description: 'Name of the model. Empty: AI is switched off.' }),
  ADSWEEP_AI_TIMEOUT_SECONDS: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 150,
    description: 'Timeout of one call in seconds. A failed call is retried twice, within 150 seconds in total.',
  }),
  ADSWEEP_AI_OUTPUT_TOKENS: Type.Integer({
    default: 4_000,
    minimum: 500,
    maximum: 200_000,
    description:
      'Maximum number of output tokens of one call, reasoning included. A model that reasons at length needs more: its calls count as `cut_off` in `adsweep_ai_calls_total`.',
  }),
  ADSWEEP_AI_SCREENSHOT: switchSetting(
    'off',
    '`on`: calls include a screenshot of the first landing, for models that accept images.',
  ),
  ADSWEEP_AI_PARALLEL_SCANS: Type.Integer({
    default: 64,
    minimum: 1,
    maximum: 1_000,
    description:
      'Maximum number of scans per process that wait for the model at the same time; of one organization three quarters.',
  }),
  ADSWEEP_AI_INPUT_PRICE_MICROS: tokenPriceSetting(
    'Price of a million input tokens, in millionths of the currency; for metrics.',
  ),
  ADSWEEP_AI_OUTPUT_PRICE_MICROS: tokenPriceSetting(
    'Price of a million output tokens, in millionths of the currency; for metrics.',
  ),
  ADSWEEP_SMTP_URL: urlSetting({
    default: '',
    secret: true,
    pattern: '^(smtps?://[^/?#\\s]+(/|\\?\\S*)?)?$',
    mustBe: 'a URL that begins with smtp:// or smtps://',
    description:
      'Mail server, such as `smtps://user:password@mail.example.com`. With a password, `smtp://` needs STARTTLS. Empty: no mails are sent.',
  }),
  ADSWEEP_MAIL_FROM: Type.String({
    default: '',
    pattern: '^([^\\s@<>,;"]+@[^\\s@<>,;"]+)?$',
    mustBe: 'a mail address',
    description: 'Sender of all mails. Empty: `adsweep@` and the host of `ADSWEEP_PUBLIC_URL`.',
  }),
  ADSWEEP_TELEGRAM_API_URL: urlSetting({
    default: 'https://api.telegram.org',
    pattern: '^https?://[^?#]+$',
    mustBe: 'an http or https URL without ? and #',
    description: "Base URL of Telegram's Bot API, for destinations of alerts.",
  }),
  ADSWEEP_DENY_ADDRESSES: denyAddressesSetting,
  ADSWEEP_DELIVERY_ALLOW: deliveryAllowSetting,
  ADSWEEP_FORMS_ORIGINS: Type.Refine(
    Type.String({
      default: '',
      description:
        'Origins of the pages that may send forms from a browser, such as `https://www.example.com`, separated by commas. Empty: none.',
    }),
    (list) => splitList(list).every(isOrigin),
    () => 'Must be origins such as https://www.example.com, separated by commas.',
  ),
  ADSWEEP_FORMS_MAIL_TO: Type.Refine(
    Type.String({
      default: '',
      description: 'Addresses that forms are mailed to, separated by commas. Needs `ADSWEEP_SMTP_URL`. Empty: none.',
    }),
    (list) => splitList(list).every((address) => /^[^\s@,]+@[^\s@,]+$/.test(address)),
    () => 'Must be mail addresses, separated by commas.',
  ),
  ADSWEEP_TRUSTED_PROXIES: addressBlocksSetting(
    'addresses or blocks such as 10.0.0.0/8',
    'Addresses of your own proxies in front of the API, whose `X-Forwarded-For` counts where requests are limited by address (forms, sign-ins): addresses and CIDR blocks, separated by commas.',
  ),
  ADSWEEP_METRICS_TOKEN: metricsTokenSetting,
  ADSWEEP_LOG_LEVEL: logLevelSetting,
  ...tracingProperties,
});

export type Config = Static<typeof ConfigSchema>;

/** The settings of this process. Throws ConfigError with all problems. */
export const readConfig = (env: NodeJS.ProcessEnv = process.env): Config =>
  loadConfig(ConfigSchema, env, [], [requireModel, requireScalerFile, nodeApiTls, tlsClientFiles, bucketSettings]);

function requireModel({ ADSWEEP_AI_BASE_URL: url, ADSWEEP_AI_MODEL: model }: Config): void {
  if ((url === '') !== (model === ''))
    throw new ConfigError(['ADSWEEP_AI_BASE_URL and ADSWEEP_AI_MODEL are set together or not at all']);
}

function requireScalerFile({ ADSWEEP_SCALER: scaler, ADSWEEP_SCALER_FILE: file }: Config): void {
  if (scaler !== 'off' && file === '')
    throw new ConfigError(['ADSWEEP_SCALER_FILE is required unless ADSWEEP_SCALER is off']);
}

/** Variables of ours that are set and are no settings of this service. */
export const unreadVariables = (env: NodeJS.ProcessEnv = process.env): string[] =>
  unreadSettings(Object.keys(ConfigSchema.properties), env);

/** Some of the settings, for a command that needs no others. Throws ConfigError with all problems. */
export const readSettings = <Schema extends TObject>(schema: Schema, env: NodeJS.ProcessEnv = process.env) =>
  loadConfig(schema, env);

/** The node API's certificate, null: it serves http. Throws ConfigError for a certificate without its key. */
export const nodeApiTls = (config: Config) =>
  tlsFilesOf(config, 'ADSWEEP_NODE_API_TLS_CERTIFICATE', 'ADSWEEP_NODE_API_TLS_KEY', 'ADSWEEP_NODE_API_TLS_CLIENT_CA');

/** How mails are sent; null: they are not. */
export function mailSettings({
  ADSWEEP_SMTP_URL: url,
  ADSWEEP_MAIL_FROM: from,
  ADSWEEP_PUBLIC_URL: publicUrl,
}: Pick<Config, 'ADSWEEP_SMTP_URL' | 'ADSWEEP_MAIL_FROM' | 'ADSWEEP_PUBLIC_URL'>) {
  if (url === '') return null;
  const { hostname } = new URL(publicUrl || 'http://127.0.0.1');
  // A mail address has an IP address in brackets (RFC 5321 4.1.3).
  const domain = hostname.replace(/^\[(.*)\]$/, '[IPv6:$1]').replace(/^[\d.]+$/, '[$&]');
  return { url, from: from || `adsweep@${domain}` };
}

/** What the forms of a website need. */
export const formSettings = (config: Config) => ({
  formOrigins: splitList(config.ADSWEEP_FORMS_ORIGINS),
  formsMailTo: splitList(config.ADSWEEP_FORMS_MAIL_TO),
  trustedProxies: splitAddressBlocks(config.ADSWEEP_TRUSTED_PROXIES),
});

/** How the model is called, times in ms; null: AI is switched off. */
export function modelSettings(config: Config) {
  if (config.ADSWEEP_AI_BASE_URL === '' || config.ADSWEEP_AI_MODEL === '') return null;
  return {
    baseUrl: config.ADSWEEP_AI_BASE_URL,
    apiKey: config.ADSWEEP_AI_API_KEY,
    model: config.ADSWEEP_AI_MODEL,
    callMs: config.ADSWEEP_AI_TIMEOUT_SECONDS * 1_000,
    totalMs: AI_TOTAL_MS,
    outputTokensMax: config.ADSWEEP_AI_OUTPUT_TOKENS,
    backoffMs: AI_BACKOFF_MS,
    screenshot: config.ADSWEEP_AI_SCREENSHOT === 'on',
    scansWaiting: config.ADSWEEP_AI_PARALLEL_SCANS,
    inputPriceMicros: config.ADSWEEP_AI_INPUT_PRICE_MICROS,
    outputPriceMicros: config.ADSWEEP_AI_OUTPUT_PRICE_MICROS,
  };
}

/** Total time for a question with all its calls (decisions 4). */
const AI_TOTAL_MS = 150_000;
const AI_BACKOFF_MS = 1_000;

/** The roles of this process. */
export const rolesOf = ({ ADSWEEP_ROLES: list }: Pick<Config, 'ADSWEEP_ROLES'>): ReadonlySet<RoleName> =>
  new Set(list === '' ? ROLES : splitRoles(list).filter(isRole));
