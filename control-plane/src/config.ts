import { ConfigError, loadConfig } from '@adsweep/shared/service/load-config.ts';
import {
  denyAddressesSetting,
  logLevelSetting,
  metricsTokenSetting,
  portSetting,
  secretSetting,
  secretsSetting,
} from '@adsweep/shared/service/settings.ts';
import { type Static, Type } from 'typebox';

/** What the control plane does, in parts that a process may do or leave to others. */
export const ROLES = ['api', 'node-api', 'checks', 'relay', 'reaper', 'refill', 'sweeper'] as const;
export type RoleName = (typeof ROLES)[number];

const splitRoles = (list: string): string[] => list.split(',').map((name) => name.trim());
const isRole = (name: string): name is RoleName => ROLES.some((role) => role === name);

const tokenPriceSetting = (description: string) =>
  Type.Integer({ default: 0, minimum: 0, maximum: 1_000_000_000_000, description });

const daysSetting = (description: string) => Type.Integer({ default: 0, minimum: 0, maximum: 36_500, description });

/** Settings of the control plane. The README shows the same table; a test holds the two together. */
export const ConfigSchema = Type.Object({
  ADSWEEP_ROLES: Type.Refine(
    Type.String({
      default: '',
      description: `What this process does, separated by commas: ${ROLES.map((role) => `\`${role}\``).join(', ')}. Empty: all of it.`,
    }),
    (list) => list === '' || splitRoles(list).every(isRole),
    () => `Must be some of ${ROLES.join(', ')}, separated by commas.`,
  ),
  ADSWEEP_HTTP_HOST: Type.String({ default: '127.0.0.1', description: 'Address that the API listens on.' }),
  ADSWEEP_HTTP_PORT: portSetting(8080, 'Port of the API. 0: any free port.'),
  ADSWEEP_NODE_API_HOST: Type.String({ default: '127.0.0.1', description: 'Address that the node API listens on.' }),
  ADSWEEP_NODE_API_PORT: portSetting(8081, 'Port of the node API. 0: any free port.'),
  ADSWEEP_PUBLIC_URL: Type.String({
    default: '',
    pattern: '^(https?://[^?#]+)?$',
    mustBe: 'an http or https URL without ? and #',
    description: 'How clients reach the API, for links in answers. Empty: `http://127.0.0.1:<port>`.',
  }),
  ADSWEEP_DATA_DIR: Type.String({
    default: './.adsweep',
    description: 'Folder for artifacts (`objects/`) and, without MongoDB, the records (`store.db`).',
  }),
  MONGODB_URL: Type.String({
    default: '',
    secret: true,
    description: 'MongoDB deployment for the records. Empty: the embedded store.',
  }),
  REDIS_URL: Type.String({
    default: 'redis://127.0.0.1:6379',
    secret: true,
    pattern: '^(rediss?(\\+cluster)?://|unix:///)',
    mustBe: 'a URL that begins with redis://, rediss://, redis+cluster:// or unix:///',
    description:
      'Redis for the index of work: `redis://`, `rediss://` or `unix:///path`; `redis+cluster://host:port,host:port` for a Redis Cluster.',
  }),
  ADSWEEP_QUEUE_SHARDS: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 256,
    description:
      'Queues that the organizations are spread over, for a Redis Cluster. The same for all replicas: change it while they are all stopped.',
  }),
  ADSWEEP_PROXY_URL: Type.String({
    default: 'http://127.0.0.1:8082',
    pattern: '^https?://[^?#]+$',
    mustBe: 'an http or https URL without ? and #',
    description: "The proxy-router's API.",
  }),
  ADSWEEP_CATALOGUE_SECONDS: Type.Integer({
    default: 5,
    minimum: 1,
    maximum: 3600,
    description: "Seconds between two reads of the proxy-router's catalogue.",
  }),
  ADSWEEP_NODE_TOKEN: secretsSetting(
    'Join tokens that nodes register with, separated by commas; the first one opens the proxy-router.',
  ),
  ADSWEEP_LEASE_SECRET: secretSetting("Signs leases' tokens; the same for all replicas."),
  ADSWEEP_API_KEY: Type.String({
    default: '',
    secret: true,
    pattern: '^[\\x21-\\x7e]*$',
    mustBe: 'letters, digits and signs, without spaces',
    description: 'An API key of the first organization, made at start. Empty: none is made.',
  }),
  ADSWEEP_CHECK_PRICE_MICROS: Type.Integer({
    default: 10_000,
    minimum: 0,
    maximum: 1_000_000_000_000,
    description: 'What a check costs, in millionths of the currency.',
  }),
  ADSWEEP_START_BALANCE_MICROS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100_000_000_000_000,
      defaultInWords: 'empty',
      description:
        'What each organization has to begin with, in millionths of the currency; it then spends no more than it has. Empty: no balance is enforced.',
    }),
  ),
  ADSWEEP_DISK_FLOOR_MB: Type.Integer({
    default: 256,
    minimum: 0,
    maximum: 1_000_000_000,
    description:
      'Free megabytes on the disk of `ADSWEEP_DATA_DIR` below which it counts as full: no jobs are leased, uploads are refused. 0: none.',
  }),
  ADSWEEP_KEEP_SCANS_DAYS: daysSetting(
    'Days after its end at which a scan is removed, with its report, capture and pictures. The ledger stays. 0: never.',
  ),
  ADSWEEP_KEEP_EVIDENCE_DAYS: daysSetting(
    "Days after a scan's end at which its capture and pictures are removed, and the scan stays. 0: with the scan.",
  ),
  ADSWEEP_RULE_BUDGET_MS: Type.Integer({
    default: 2_000,
    minimum: 10,
    maximum: 60_000,
    description:
      "Milliseconds of CPU that the rules of one scan may take together; the platform's run first, and rules beyond it are skipped.",
  }),
  ADSWEEP_AI_BASE_URL: Type.String({
    default: '',
    pattern: '^(https?://[^?#]+)?$',
    mustBe: 'an http or https URL without ? and #',
    description:
      'An OpenAI-compatible API, such as `https://api.openai.com/v1`, whose model classifies scans. Empty: AI is switched off.',
  }),
  ADSWEEP_AI_API_KEY: Type.String({
    default: '',
    secret: true,
    pattern: '^[\\x21-\\x7e]*$',
    mustBe: 'letters, digits and signs, without spaces',
    description: 'Key for that API. Empty: it needs none.',
  }),
  ADSWEEP_AI_MODEL: Type.String({ default: '', description: 'The model to ask. Empty: AI is switched off.' }),
  ADSWEEP_AI_TIMEOUT_SECONDS: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 150,
    description: 'Seconds that one call may take. A failed call is made twice more, within 150 seconds in all.',
  }),
  ADSWEEP_AI_SCREENSHOT: Type.String({
    default: 'off',
    pattern: '^(on|off)$',
    mustBe: 'on or off',
    description: '`on`: a picture of the first landing goes along, for models that take images.',
  }),
  ADSWEEP_AI_PARALLEL_SCANS: Type.Integer({
    default: 64,
    minimum: 1,
    maximum: 1_000,
    description: 'Scans that may wait for the model at once, in each process.',
  }),
  ADSWEEP_AI_INPUT_PRICE_MICROS: tokenPriceSetting(
    'What a million tokens that the model reads cost, in millionths of the currency; for metrics.',
  ),
  ADSWEEP_AI_OUTPUT_PRICE_MICROS: tokenPriceSetting(
    'What a million tokens that the model writes cost, in millionths of the currency; for metrics.',
  ),
  ADSWEEP_DENY_ADDRESSES: denyAddressesSetting,
  ADSWEEP_METRICS_TOKEN: metricsTokenSetting,
  ADSWEEP_LOG_LEVEL: logLevelSetting,
});

export type Config = Static<typeof ConfigSchema>;

/** The settings of this process. Throws ConfigError with all problems. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const config = loadConfig(ConfigSchema, env);
  const { ADSWEEP_AI_BASE_URL: url, ADSWEEP_AI_MODEL: model } = config;
  if ((url === '') !== (model === ''))
    throw new ConfigError(['ADSWEEP_AI_BASE_URL and ADSWEEP_AI_MODEL are set together or not at all']);
  return config;
}

/** How the model is called, times in ms; null: AI is switched off. */
export function modelSettings(config: Config) {
  if (config.ADSWEEP_AI_BASE_URL === '' || config.ADSWEEP_AI_MODEL === '') return null;
  return {
    baseUrl: config.ADSWEEP_AI_BASE_URL,
    apiKey: config.ADSWEEP_AI_API_KEY,
    model: config.ADSWEEP_AI_MODEL,
    callMs: config.ADSWEEP_AI_TIMEOUT_SECONDS * 1_000,
    totalMs: AI_TOTAL_MS,
    backoffMs: AI_BACKOFF_MS,
    screenshot: config.ADSWEEP_AI_SCREENSHOT === 'on',
    scansWaiting: config.ADSWEEP_AI_PARALLEL_SCANS,
    inputPriceMicros: config.ADSWEEP_AI_INPUT_PRICE_MICROS,
    outputPriceMicros: config.ADSWEEP_AI_OUTPUT_PRICE_MICROS,
  };
}

/** A question with all its calls (decisions 4). */
const AI_TOTAL_MS = 150_000;
const AI_BACKOFF_MS = 1_000;

/** The roles of this process. */
export const rolesOf = ({ ADSWEEP_ROLES: list }: Pick<Config, 'ADSWEEP_ROLES'>): ReadonlySet<RoleName> =>
  new Set(list === '' ? ROLES : splitRoles(list).filter(isRole));
