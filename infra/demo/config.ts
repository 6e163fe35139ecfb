import { loadConfig } from '@adsweep/shared/service/load-config.ts';
import { type Static, Type } from 'typebox';

const DemoConfigSchema = Type.Object({
  ADSWEEP_DEMO_HOST: Type.String({ default: '127.0.0.1', description: 'Address the ad world listens on' }),
  ADSWEEP_DEMO_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 0,
    description: 'Port of the ad world, http and https alike; 0 = any free one',
  }),
  ADSWEEP_LOG_LEVEL: Type.String({ default: 'info', description: 'Lowest level of log lines' }),
});

export type DemoConfig = Static<typeof DemoConfigSchema>;

/** Settings of the ad world as a process of its own; throws a ConfigError that names all problems. */
export const demoConfig = (env: NodeJS.ProcessEnv = process.env): DemoConfig => loadConfig(DemoConfigSchema, env);
