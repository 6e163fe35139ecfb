import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { stopOnSignal } from '@adsweep/shared/service/shutdown.ts';
import { readConfig } from './config.ts';
import { startControlPlane } from './wiring.ts';

try {
  const config = readConfig();
  const logger = createLogger('control-plane', config.ADSWEEP_LOG_LEVEL);
  const plane = await startControlPlane(config, logger);
  stopOnSignal(logger, () => plane.stops);
  announceReady(logger, plane.ports);
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}
