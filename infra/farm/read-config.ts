import { ConfigError, loadConfig } from '@adsweep/shared/service/load-config.ts';
import { type TObject, Type } from 'typebox';
import { type FarmConfig, FarmConfigSchema } from './config.ts';
import { SERVICES } from './services.ts';

/**
 * The settings of `npm start`. Throws ConfigError with all problems, those of the services' own settings too: otherwise each of them
 * would be found when its service is started, one after the other.
 */
export function readFarmConfig(env: NodeJS.ProcessEnv): FarmConfig {
  const schemas = [FarmConfigSchema, ...Object.values(SERVICES).map(({ settings }) => onlySet(settings, env))];
  const byName = new Map<string, string>();
  for (const problem of schemas.flatMap((schema) => problemsOf(schema, env))) {
    const [name = ''] = problem.split(' ');
    if (!byName.has(name)) byName.set(name, problem);
  }
  if (byName.size > 0) throw new ConfigError([...byName.values()]);
  return loadConfig(FarmConfigSchema, env);
}

/** What the farm gives its services is not in `env`: only what is there is looked at. */
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
