import type { TObject } from 'typebox';
import { ConfigSchema as BrowserNodeConfig } from '../../browser-node/src/config.ts';
import { ConfigSchema as ControlPlaneConfig } from '../../control-plane/src/config.ts';
import { ConfigSchema as ProxyRouterConfig } from '../../proxy-router/src/config.ts';
import { DemoConfigSchema } from '../demo/config.ts';

/** The farm's services: the script of each and the settings that it reads. */
export const SERVICES = {
  'proxy-router': { script: 'proxy-router/src/main.ts', settings: ProxyRouterConfig },
  'control-plane': { script: 'control-plane/src/main.ts', settings: ControlPlaneConfig },
  'browser-node': { script: 'browser-node/src/main.ts', settings: BrowserNodeConfig },
  'ad world': { script: 'infra/demo/main.ts', settings: DemoConfigSchema },
} satisfies Record<string, { script: string; settings: TObject }>;
export type ServiceName = keyof typeof SERVICES;

/** Variables that every process gets: search path, home, language, time zone, temporary folder, libraries, fonts, certificates. */
const COMMON = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'FONTCONFIG_FILE',
  'FONTCONFIG_PATH',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'NODE_COMPILE_CACHE',
];

/**
 * The complete environment of a farm process: `given`, its own `settings` out of `env` (a secret also as `<NAME>_FILE`), and a few common
 * variables. It gets nothing else of `env`. `given` overrides `env`, including the file of a secret.
 */
export function processEnvironment(
  settings: TObject | null,
  given: NodeJS.ProcessEnv,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const own = Object.keys(settings?.properties ?? {}).filter((name) => !(name in given));
  const names = [...COMMON, ...own.flatMap((name) => [name, `${name}_FILE`])];
  const known = names.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]);
  return { ...Object.fromEntries(known), ...given };
}
