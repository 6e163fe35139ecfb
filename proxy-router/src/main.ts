import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { stopOnSignal } from '@adsweep/shared/service/shutdown.ts';
import { ExitsFileError } from './catalogue/exits-file.ts';
import { readConfig } from './config.ts';
import { createProviders } from './providers/index.ts';
import { startRouter } from './start-router.ts';

try {
  const config = readConfig();
  const logger = createLogger('proxy-router', config.ADSWEEP_LOG_LEVEL);
  const router = await startRouter(config, createProviders(), logger);
  stopOnSignal(logger, () => router.stops);
  announceReady(logger, router.ports);
} catch (error) {
  const isOperators = error instanceof ConfigError || error instanceof ExitsFileError;
  console.error(isOperators ? error.message : error);
  process.exit(1);
}
