import { hostname } from 'node:os';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { NODE_ID, NODE_LABEL_KEY, NODE_LABEL_LENGTH_MAX, NODE_LABELS_MAX } from '@adsweep/shared/lease/messages.ts';
import { loadConfig, unreadSettings } from '@adsweep/shared/service/load-config.ts';
import {
  logLevelSetting,
  metricsTokenSetting,
  portSetting,
  SECRETS_PATTERN,
  secretsSetting,
  switchSetting,
  urlSetting,
} from '@adsweep/shared/service/settings.ts';
import { tlsClientFiles, tlsClientProperties } from '@adsweep/shared/service/tls-client.ts';
import { tracingProperties } from '@adsweep/shared/tracing/settings.ts';
import { withoutBrackets } from '@adsweep/shared/urls/public-host.ts';
import { type Static, Type } from 'typebox';
import { defaultSlots, type SlotBounds, thisMachine } from './machine/default-slots.ts';

/**
 * A user id that Linux distributions assign to no account, and within the 65,536 ids of a container with a user
 * namespace.
 */
export const CHROMIUM_UID = 65_530;

const LONGEST_ATTEMPT_SECONDS = Math.max(...Object.values(JOB_LIMITS).map(({ seconds }) => seconds));

const ownId = () =>
  `${hostname().replace(/[^A-Za-z0-9._-]/g, '-')}-${process.pid}`.replace(/^[^A-Za-z0-9]+/, '').slice(-100);

/** Settings of a browser node. The README shows the same table; a test compares them. */
export const ConfigSchema = Type.Object({
  ADSWEEP_NODE_TOKEN: Type.String({
    ...secretsSetting(
      'Join token that registers the node and authenticates it at the proxy-router. Of several, separated by commas, the first one is sent. Needed unless the node is enrolled.',
    ),
    default: '',
    pattern: `^$|${SECRETS_PATTERN}`,
  }),
  ADSWEEP_NODE_DATA_DIR: Type.String({
    default: '',
    description:
      'Folder of an enrolled node, where it keeps the credential of its own (readable for its user alone), which replaces the join token. Empty: the node is not enrolled.',
  }),
  ADSWEEP_ENROLMENT_TOKEN: Type.String({
    default: '',
    secret: true,
    pattern: '^(ade_[A-Za-z0-9_-]{43})?$',
    mustBe: 'a token as `POST /api/v1/fleet/enrolments` returns it',
    description:
      'One-time token that enrols the node named `ADSWEEP_NODE_ID`. Once it was used it may stay set. Empty: the node uses the credential in its folder.',
  }),
  ADSWEEP_NODE_ID: Type.String({
    default: ownId(),
    defaultInWords: 'host name and process id',
    pattern: NODE_ID,
    mustBe: '1 to 100 letters, digits, dots, dashes and underscores, beginning with a letter or digit',
    description: 'Name of this node, unique in the fleet; the operator blocks a node by its name.',
  }),
  ADSWEEP_NODE_LABELS: Type.Refine(
    Type.String({
      default: '',
      description: 'Labels of this node in the list of nodes: `key=value`, separated by commas.',
    }),
    (text) => readLabels(text) !== null,
    () => 'Must be up to 16 labels such as zone=eu-1,disk=ssd, each key once.',
  ),
  ADSWEEP_NODE_API_URL: urlSetting({
    default: 'http://127.0.0.1:8081',
    pattern: '^https?://.*[^/]$',
    mustBe: 'an http or https URL that does not end in /',
    description: "Base URL of the control plane's node API.",
  }),
  ADSWEEP_PROXY_URL: urlSetting({
    default: 'http://127.0.0.1:8082',
    pattern: '^https?://.*[^/]$',
    mustBe: 'an http or https URL that does not end in /',
    description: "Base URL of the proxy-router's API.",
  }),
  ADSWEEP_GATEWAY_HOSTS: Type.String({
    default: '',
    pattern: '^([A-Za-z0-9._:-]+(,[A-Za-z0-9._:-]+)*)?$',
    mustBe: 'names or addresses without ports, separated by commas',
    description:
      'Hosts of the gateways that browsers may use, separated by commas; they resolve no other name. Empty: the host of `ADSWEEP_PROXY_URL`.',
  }),
  ...tlsClientProperties,
  ADSWEEP_SLOTS: Type.Optional(
    Type.Integer({
      defaultInWords:
        'follows the load: 5 to 10 per core, as far as memory allows (256 MiB each), within the limits of its control groups',
      minimum: 1,
      maximum: 256,
      description: 'Maximum number of concurrent captures.',
    }),
  ),
  ADSWEEP_MEMORY_MAX_PERCENT: Type.Integer({
    default: 95,
    minimum: 1,
    maximum: 100,
    description:
      "Memory usage in per cent, of its control group's limit or of the machine, above which the node takes no more work. 100: no threshold.",
  }),
  ADSWEEP_CPU_MAX_PERCENT: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 100,
    description:
      "CPU usage over ten seconds in per cent, of its control group's limit or of the machine, above which the node takes no more work. 100: no threshold.",
  }),
  BROWSER_CDP_URL: urlSetting({
    default: '',
    secret: true,
    pattern: '^((wss?|https?)://[^\\s/]\\S*)?$',
    mustBe: 'a ws, wss, http or https URL',
    description:
      'DevTools endpoint of a remote Chromium, such as browserless, with its token. The node then starts none of its own. Empty: the Chromium of `CHROMIUM_PATH`.',
  }),
  CHROMIUM_PATH: Type.String({
    default: '',
    description:
      'Path of the Chromium to run. Empty: the first of the known paths that exists, with headless shells before full browsers.',
  }),
  ADSWEEP_CHROMIUM_UID: Type.Integer({
    default: CHROMIUM_UID,
    minimum: 1,
    maximum: 4_294_967_294,
    description: 'User and group id of Chromium if the node runs as root. No other process should run under it.',
  }),
  ADSWEEP_CHROMIUM_SANDBOX: switchSetting(
    'on',
    '`off`: Chromium runs without its sandbox; a page that compromises its renderer then has all permissions of the user that Chromium runs as.',
  ),
  ADSWEEP_CAPTURE_SECONDS: Type.Integer({
    default: 900,
    minimum: 1,
    maximum: 900,
    description:
      'Maximum duration of one attempt in seconds, from the request for its exit to the end of its capture; the kind of job usually allows less.',
  }),
  ADSWEEP_DRAIN_SECONDS: Type.Integer({
    default: 25,
    minimum: 0,
    maximum: 900,
    description:
      'Seconds that running captures may continue after a SIGTERM; then their jobs are returned to the queue.',
  }),
  ADSWEEP_OPERATOR_DRAIN_SECONDS: Type.Integer({
    default: LONGEST_ATTEMPT_SECONDS,
    minimum: 0,
    maximum: 900,
    description:
      'Seconds that running captures may continue after the operator drains the node through the API; then their jobs are returned to the queue.',
  }),
  ADSWEEP_METRICS_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address of `/healthz`, `/readyz` and `/metrics`.',
  }),
  ADSWEEP_METRICS_PORT: portSetting(8084, 'Port of `/healthz`, `/readyz` and `/metrics`. 0: any free port.'),
  ADSWEEP_METRICS_TOKEN: metricsTokenSetting,
  ADSWEEP_LOG_LEVEL: logLevelSetting,
  ...tracingProperties,
});

export type Config = Static<typeof ConfigSchema>;

/**
 * The fewest and the most concurrent captures: both as configured, or by what this machine and its control groups have.
 */
export function slotBounds({ ADSWEEP_SLOTS: slots }: Pick<Config, 'ADSWEEP_SLOTS'>): SlotBounds {
  if (slots !== undefined) return { least: slots, most: slots };
  return defaultSlots(thisMachine());
}

/** The hosts of the gateways that browsers may use. An IPv6 address has no brackets. */
export const gatewayHosts = (config: Pick<Config, 'ADSWEEP_GATEWAY_HOSTS' | 'ADSWEEP_PROXY_URL'>): string[] =>
  config.ADSWEEP_GATEWAY_HOSTS === '' ? [hostOf(config.ADSWEEP_PROXY_URL)] : config.ADSWEEP_GATEWAY_HOSTS.split(',');

/** The host of a URL; an IPv6 address without its brackets. */
export const hostOf = (url: string): string => withoutBrackets(new URL(url).hostname);

/** The environment variables that Chromium gets: paths of programs, fonts and libraries, language and timezone. */
const CHROMIUM_VARIABLES = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'FONTCONFIG_FILE', 'FONTCONFIG_PATH', 'LD_LIBRARY_PATH'];

/**
 * The whole environment of a Chromium whose files are in `home`, an absolute path. No setting and no secret is in it.
 */
export function chromiumEnvironment(home: string, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const named = CHROMIUM_VARIABLES.filter((name) => env[name]).map((name) => [name, env[name]]);
  return { ...Object.fromEntries(named), HOME: home, TMPDIR: home };
}

/** The settings of this process. Throws ConfigError with all problems. */
export const readConfig = (env: NodeJS.ProcessEnv = process.env): Config =>
  loadConfig(ConfigSchema, env, credentialProblems(env), [tlsClientFiles]);

/** Variables of ours that are set and are no settings of this service. */
export const unreadVariables = (env: NodeJS.ProcessEnv = process.env): string[] =>
  unreadSettings(Object.keys(ConfigSchema.properties), env);

/** A node has a join token, or a folder with a credential of its own. */
function credentialProblems(env: NodeJS.ProcessEnv): string[] {
  const has = (name: string) => Boolean(env[name] || env[`${name}_FILE`]);
  if (env.ADSWEEP_NODE_DATA_DIR) return [];
  if (has('ADSWEEP_ENROLMENT_TOKEN')) return ['ADSWEEP_ENROLMENT_TOKEN needs ADSWEEP_NODE_DATA_DIR'];
  return has('ADSWEEP_NODE_TOKEN') ? [] : ['ADSWEEP_NODE_TOKEN is not set, and neither is ADSWEEP_NODE_DATA_DIR'];
}

const KEY = new RegExp(NODE_LABEL_KEY);

/** Labels from `key=value,key=value`; null where the text has another form or a key twice. Pure. */
export function readLabels(text: string): Record<string, string> | null {
  const entries = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one): [string, string] => {
      const at = one.indexOf('=');
      return at < 0 ? [one, ''] : [one.slice(0, at).trim(), one.slice(at + 1).trim()];
    });
  const isLabel = ([key, value]: [string, string]) =>
    KEY.test(key) && value !== '' && value.length <= NODE_LABEL_LENGTH_MAX;
  const labels = Object.fromEntries(entries);
  const areLabels = entries.every(isLabel) && Object.keys(labels).length === entries.length;
  return areLabels && entries.length <= NODE_LABELS_MAX ? labels : null;
}
