import { loadConfig } from '@adsweep/shared/service/load-config.ts';
import { Type } from 'typebox';

const BenchConfigSchema = Type.Object({
  CHROMIUM_PATH: Type.String({
    default: '/usr/lib/chromium/chromium-headless-shell',
    description: 'The browser that other programs drive',
  }),
  ADSWEEP_BENCH_LOAD_MAX_PERCENT: Type.Integer({
    default: 30,
    minimum: 0,
    description:
      'Load average of the last minute, in per cent of a process, above which no benchmark starts. A result that began above 30 says so.',
  }),
});

/** Settings of the benchmarks; throws a ConfigError that names all problems. */
export const benchConfig = () => loadConfig(BenchConfigSchema, process.env);

/** This process' environment with `more` on top, for what a benchmark starts. */
export const environmentWith = (more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({ ...process.env, ...more });

const LOAD_VARIABLE = 'BENCH_LOAD_BEFORE';

/** The environment of a benchmark that is let begin at this load average. */
export const environmentAtLoad = (load: number): NodeJS.ProcessEnv =>
  environmentWith({ [LOAD_VARIABLE]: String(load) });

/** The load average at which this benchmark was let begin; null: `npm run bench` has not started it. */
export function loadAtStart(): number | null {
  const load = Number.parseFloat(process.env[LOAD_VARIABLE] ?? '');
  return Number.isNaN(load) ? null : load;
}
