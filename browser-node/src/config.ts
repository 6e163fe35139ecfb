import { availableParallelism, hostname } from 'node:os';
import { NODE_ID } from '@adsweep/shared/lease/messages.ts';
import { loadConfig } from '@adsweep/shared/service/load-config.ts';
import { type Static, Type } from 'typebox';

const SLOTS_PER_CORE = 2;
const ownId = () =>
  `${hostname().replace(/[^A-Za-z0-9._-]/g, '-')}-${process.pid}`.replace(/^[^A-Za-z0-9]+/, '').slice(-100);
const seconds = (description: string, value: number, maximum: number) =>
  Type.Integer({ description, default: value, minimum: 0, maximum });
const port = (description: string, value: number) =>
  Type.Integer({ description, default: value, minimum: 0, maximum: 65_535 });

export const ConfigSchema = Type.Object({
  ADSWEEP_NODE_ID: Type.String({
    description: 'Name of this node, unique in the fleet.',
    default: ownId(),
    pattern: NODE_ID,
  }),
  ADSWEEP_NODE_API_URL: Type.String({
    description: "Base URL of the control plane's node API.",
    default: 'http://127.0.0.1:8081',
    pattern: '^https?://.*[^/]$',
  }),
  ADSWEEP_PROXY_URL: Type.String({
    description: "Base URL of the proxy-router's API.",
    default: 'http://127.0.0.1:8082',
    pattern: '^https?://.*[^/]$',
  }),
  ADSWEEP_NODE_TOKEN: Type.String({
    description: 'Secret that opens the node API and the proxy-router.',
    minLength: 1,
    secret: true,
  }),
  ADSWEEP_SLOTS: Type.Integer({
    description: 'Captures at the same time.',
    default: availableParallelism() * SLOTS_PER_CORE,
    minimum: 1,
    maximum: 256,
  }),
  CHROMIUM_PATH: Type.String({
    description:
      'The Chromium to run; empty: the first of the known places, the headless shell before the full browser.',
    default: '',
  }),
  ADSWEEP_CAPTURE_SECONDS: Type.Integer({
    description: 'The longest one attempt may take, from its exit to the end of its capture.',
    default: 90,
    minimum: 1,
    maximum: 900,
  }),
  ADSWEEP_DRAIN_SECONDS: seconds(
    'How long running captures may go on after SIGTERM; then they go back to the queue.',
    0,
    900,
  ),
  ADSWEEP_METRICS_HOST: Type.String({
    description: 'Address of /healthz, /readyz and /metrics.',
    default: '127.0.0.1',
  }),
  ADSWEEP_METRICS_PORT: port('Port of /healthz, /readyz and /metrics; 0: any free one.', 8084),
  ADSWEEP_LOG_LEVEL: Type.String({
    description: 'trace, debug, info, warn, error or fatal.',
    default: 'info',
    pattern: '^(trace|debug|info|warn|error|fatal)$',
  }),
});
export type Config = Static<typeof ConfigSchema>;

/** The node's settings; throws `ConfigError` with all problems. */
export const readConfig = (env: NodeJS.ProcessEnv = process.env): Config => loadConfig(ConfigSchema, env);
