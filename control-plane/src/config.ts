import { loadConfig } from '@adsweep/shared/service/load-config.ts';
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

const daysSetting = (description: string) => Type.Integer({ default: 0, minimum: 0, maximum: 36_500, description });

/** Settings of the control plane. The README shows the same table; a test holds the two together. */
export const ConfigSchema = Type.Object({
  ADSWEEP_ROLES: Type.Refine(
    Type.String({
      default: '',
      description: `What this process does, separated by commas: ${ROLES.map((role) => `\`${role}\``).join(', ')}. Empty: all of it.`,
    }),
    (list) => list === '' || splitRoles(list).every(isRole),
    () => `must be some of ${ROLES.join(', ')}, separated by commas`,
  ),
  ADSWEEP_HTTP_HOST: Type.String({ default: '127.0.0.1', description: 'Address that the API listens on.' }),
  ADSWEEP_HTTP_PORT: portSetting(8080, 'Port of the API. 0: any free port.'),
  ADSWEEP_NODE_API_HOST: Type.String({ default: '127.0.0.1', description: 'Address that the node API listens on.' }),
  ADSWEEP_NODE_API_PORT: portSetting(8081, 'Port of the node API. 0: any free port.'),
  ADSWEEP_PUBLIC_URL: Type.String({
    default: '',
    pattern: '^(https?://[^?#]+)?$',
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
    pattern: '^(rediss?://|unix:///)',
    description: 'Redis for the index of work: `redis://`, `rediss://` or `unix:///path`.',
  }),
  ADSWEEP_PROXY_URL: Type.String({
    default: 'http://127.0.0.1:8082',
    pattern: '^https?://[^?#]+$',
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
    description: 'An API key of the first organization, made at start. Empty: none is made.',
  }),
  ADSWEEP_CHECK_PRICE_MICROS: Type.Integer({
    default: 10_000,
    minimum: 0,
    maximum: 1_000_000_000_000,
    description: 'What a check costs, in millionths of the currency.',
  }),
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
  ADSWEEP_DENY_ADDRESSES: denyAddressesSetting,
  ADSWEEP_METRICS_TOKEN: metricsTokenSetting,
  ADSWEEP_LOG_LEVEL: logLevelSetting,
});

export type Config = Static<typeof ConfigSchema>;

/** The settings of this process. Throws ConfigError with all problems. */
export const readConfig = (env: NodeJS.ProcessEnv = process.env): Config => loadConfig(ConfigSchema, env);

/** The roles of this process. */
export const rolesOf = ({ ADSWEEP_ROLES: list }: Pick<Config, 'ADSWEEP_ROLES'>): ReadonlySet<RoleName> =>
  new Set(list === '' ? ROLES : splitRoles(list).filter(isRole));
