import { loadConfig } from '@adsweep/shared/service/load-config.ts';
import { logLevelSetting, portSetting } from '@adsweep/shared/service/settings.ts';
import { type Static, Type } from 'typebox';

/** Settings of the ad world. */
export const DemoConfigSchema = Type.Object({
  ADSWEEP_DEMO_HOST: Type.String({ default: '127.0.0.1', description: 'Address that the ad world listens on.' }),
  ADSWEEP_DEMO_PORT: portSetting(0, 'Port of the ad world, http and https alike. 0: any free port.'),
  ADSWEEP_DEMO_EXITS_FILE: Type.String({
    default: '',
    description:
      'Path of an exits file that holds the ad world’s hosts and exits while it runs, for a proxy-router in another container. What the file held before is put back at the end. Empty: none.',
  }),
  ADSWEEP_LOG_LEVEL: logLevelSetting,
});

type DemoConfig = Static<typeof DemoConfigSchema>;

/** Settings of the ad world's process; throws a ConfigError that names all problems. */
export const demoConfig = (env: NodeJS.ProcessEnv = process.env): DemoConfig => loadConfig(DemoConfigSchema, env);
