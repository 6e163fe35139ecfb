import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { failStart } from '@adsweep/shared/service/operator-error.ts';
import { stopOnSignal } from '@adsweep/shared/service/shutdown.ts';
import { demoConfig } from './config.ts';
import { lendExitsFile } from './lend-exits-file.ts';
import { startAdWorld } from './start-ad-world.ts';

try {
  const config = demoConfig();
  const logger = createLogger('demo', config.ADSWEEP_LOG_LEVEL);
  const world = await startAdWorld({ host: config.ADSWEEP_DEMO_HOST, port: config.ADSWEEP_DEMO_PORT });
  const { ADSWEEP_DEMO_EXITS_FILE: exitsFile } = config;
  const giveBack = exitsFile ? await lendExitsFile(exitsFile, world.port) : () => {};
  stopOnSignal(logger, () => [
    ['exits file', giveBack],
    ['ad world', world.close],
  ]);
  announceReady(logger, { http: world.port, https: world.port });
} catch (error) {
  failStart(error);
}
