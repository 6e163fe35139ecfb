import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { ADDRESS_ATTEMPT_MS } from '@adsweep/shared/egress/checked-addresses.ts';
import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { loseUnwrittenOutput } from '@adsweep/shared/service/lose-unwritten-output.ts';
import { failStart } from '@adsweep/shared/service/operator-error.ts';
import { stopOnSignal } from '@adsweep/shared/service/shutdown.ts';
import { startTracing } from '@adsweep/shared/tracing/start-tracing.ts';
import { readConfig, unreadVariables } from './config.ts';
import { createProviders } from './providers/index.ts';
import { startRouter } from './start-router.ts';

// Also for what connects by fetch, or in a library.
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);
loseUnwrittenOutput();

try {
  const config = readConfig();
  const logger = createLogger('proxy-router', config.ADSWEEP_LOG_LEVEL);
  for (const name of unreadVariables()) logger.warn({ name }, 'a variable is set that is no setting of this service');
  const tracing = await startTracing({ name: 'proxy-router' }, config, logger);
  const router = await startRouter(config, createProviders, logger);
  // The gateway takes up to its drain time.
  stopOnSignal(logger, () => [...router.stops, ...tracing], config.ADSWEEP_DRAIN_SECONDS * 1000 + 4_000);
  announceReady(logger, router.ports);
} catch (error) {
  failStart(error);
}
