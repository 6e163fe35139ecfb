import { loadConfig } from '@adsweep/shared/service/load-config.ts';
import { Type } from 'typebox';

const BenchConfigSchema = Type.Object({
  CHROMIUM_PATH: Type.String({
    default: '/usr/lib/chromium/chromium-headless-shell',
    description: 'The browser that the bare loop drives',
  }),
});

/** Settings of the benchmarks; throws a ConfigError that names all problems. */
export const benchConfig = () => loadConfig(BenchConfigSchema, process.env);

/** This process' environment with `more` on top, for what a benchmark starts. */
export const environmentWith = (more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({ ...process.env, ...more });
