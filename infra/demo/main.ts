import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { stopOnSignal } from '@adsweep/shared/service/shutdown.ts';
import { demoConfig } from './config.ts';
import { startAdWorld } from './start-ad-world.ts';

const config = demoConfig();
const logger = createLogger('demo', config.ADSWEEP_LOG_LEVEL);
const world = await startAdWorld({ host: config.ADSWEEP_DEMO_HOST, port: config.ADSWEEP_DEMO_PORT });
stopOnSignal(logger, () => [['ad world', world.close]]);
announceReady(logger, { http: world.port, https: world.port });
