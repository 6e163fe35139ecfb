import { ConfigError, loadConfig, misspeltSettings, unreadSettings } from '@adsweep/shared/service/load-config.ts';
import { portSetting } from '@adsweep/shared/service/settings.ts';
import { type Static, type TObject, Type } from 'typebox';
import { SERVICES } from './services.ts';

/**
 * The settings of `npm start`; a test compares them with the README's table. Each service also gets the settings that its own schema
 * lists.
 */
export const FarmConfigSchema = Type.Object({
  ADSWEEP_HTTP_PORT: portSetting(8080, 'Port of the REST API, reports and documents. 0: any free port.'),
  ADSWEEP_NODE_API_PORT: portSetting(8081, 'Port of the node API, which browser nodes use. 0: any free port.'),
  ADSWEEP_PROXY_PORT: portSetting(
    8082,
    'Port of the proxy-router; its gateway takes the next one. 0: any free ports.',
    65_534,
  ),
  ADSWEEP_DATA_DIR: Type.String({ default: './.adsweep', description: 'Folder of all stored data.' }),
  ADSWEEP_API_KEY: Type.String({
    default: '',
    pattern: '^[\\x21-\\x7e]*$',
    mustBe: 'letters, digits and punctuation, without spaces',
    secret: true,
    description:
      'Key of the first organization: long and random. Empty: one is generated once and kept in the data folder.',
  }),
  ADSWEEP_EXITS_FILE: Type.String({
    default: '',
    description:
      'Path of a JSON file with exits and host mappings, in the format of the proxy-router. Empty: this machine is the exit.',
  }),
  ADSWEEP_NODES: Type.Integer({ minimum: 0, maximum: 64, default: 1, description: 'Browser nodes to run.' }),
  ADSWEEP_SLOTS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 256,
      defaultInWords: 'follows the load: 5 to 10 per core, as far as memory allows',
      description: 'Concurrent captures per node.',
    }),
  ),
  ADSWEEP_DEMO: Type.Integer({
    minimum: 0,
    maximum: 1,
    default: 1,
    description: '1: run the local ad world and scan a page of it. 0: neither.',
  }),
  ADSWEEP_PUBLIC_URL: Type.String({
    default: '',
    pattern: '^(https?://[^?#]+)?$',
    mustBe: 'an http or https URL without ? and #',
    description: 'Base URL that clients use. Empty: the local one.',
  }),
  MONGODB_URL: Type.String({
    default: '',
    secret: true,
    description: 'URL of a MongoDB deployment. Empty: the embedded store.',
  }),
  REDIS_URL: Type.String({
    default: '',
    secret: true,
    description:
      'URL of a Redis server, 7.0 or newer, `redis://...` or `unix:///...`. Empty: a private one is started.',
  }),
});

export type FarmConfig = Static<typeof FarmConfigSchema>;

/**
 * The settings of `npm start`. Throws a ConfigError with all problems, including those of the services' own settings, which would otherwise
 * appear one by one as the services start.
 */
export function readFarmConfig(env: NodeJS.ProcessEnv): FarmConfig {
  const schemas = [FarmConfigSchema, ...Object.values(SERVICES).map(({ settings }) => onlySet(settings, env))];
  const byName = new Map<string, string>();
  for (const problem of [
    ...misspeltSettings(allSettings(), env),
    ...schemas.flatMap((schema) => problemsOf(schema, env)),
  ]) {
    const [name = ''] = problem.split(' ');
    if (!byName.has(name)) byName.set(name, problem);
  }
  if (byName.size > 0) throw new ConfigError([...byName.values()]);
  return loadConfig(FarmConfigSchema, env);
}

/** The settings of `npm start` and of its services, none of which gets a variable that is no setting of it. */
const allSettings = (): string[] =>
  [FarmConfigSchema, ...Object.values(SERVICES).map(({ settings }) => settings)].flatMap(({ properties }) =>
    Object.keys(properties),
  );

/** Variables of ours in `env` that no process of the farm reads, such as settings of the Compose file. */
export const unreadVariables = (env: NodeJS.ProcessEnv): string[] => unreadSettings(allSettings(), env);

/** The settings of a service that `env` contains. The others are given by the farm. */
const onlySet = ({ properties }: TObject, env: NodeJS.ProcessEnv): TObject =>
  Type.Object(Object.fromEntries(Object.entries(properties).filter(([name]) => env[name] || env[`${name}_FILE`])));

function problemsOf(schema: TObject, env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(schema, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
