import type { TObject } from 'typebox';
import { ConfigSchema as BrowserNodeConfig } from '../../browser-node/src/config.ts';
import { ConfigSchema as ControlPlaneConfig } from '../../control-plane/src/config.ts';
import { ConfigSchema as ProxyRouterConfig } from '../../proxy-router/src/config.ts';
import { DemoConfigSchema } from '../demo/config.ts';

/** Services of the farm: where each starts, and the settings that it knows. */
export const SERVICES = {
  'proxy-router': { script: 'proxy-router/src/main.ts', settings: ProxyRouterConfig },
  'control-plane': { script: 'control-plane/src/main.ts', settings: ControlPlaneConfig },
  'browser-node': { script: 'browser-node/src/main.ts', settings: BrowserNodeConfig },
  'ad world': { script: 'infra/demo/main.ts', settings: DemoConfigSchema },
} satisfies Record<string, { script: string; settings: TObject }>;
export type ServiceName = keyof typeof SERVICES;
