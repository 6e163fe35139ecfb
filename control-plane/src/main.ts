import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { ADDRESS_ATTEMPT_MS } from '@adsweep/shared/egress/checked-addresses.ts';
import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { loseUnwrittenOutput } from '@adsweep/shared/service/lose-unwritten-output.ts';
import { failStart } from '@adsweep/shared/service/operator-error.ts';
import { stopOnSignal } from '@adsweep/shared/service/shutdown.ts';
import { startTracing } from '@adsweep/shared/tracing/start-tracing.ts';
import { startControlPlane } from './compose/start-control-plane.ts';
import { readConfig, unreadVariables } from './config.ts';

/**
 * How long each part may take to stop: what a loop has begun, such as the analysis of a capture, takes seconds on a
 * busy machine.
 */
const PART_STOPS_IN_MS = 10_000;

// Also for what connects by fetch, or in a library.
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);
loseUnwrittenOutput();

try {
  const config = readConfig();
  const logger = createLogger('control-plane', config.ADSWEEP_LOG_LEVEL);
  for (const name of unreadVariables()) logger.warn({ name }, 'a variable is set that is no setting of this service');
  const tracing = await startTracing({ name: 'control-plane' }, config, logger);
  const plane = await startControlPlane(config, logger);
  // One part waits for balancers to notice.
  stopOnSignal(
    logger,
    () => [...plane.stops, ...tracing],
    config.ADSWEEP_SHUTDOWN_DELAY_SECONDS * 1_000 + PART_STOPS_IN_MS,
  );
  announceReady(logger, plane.ports);
  if (plane.storedFirstKey && config.ADSWEEP_PRINT_FIRST_KEY === 'on')
    console.log(`adsweep ready ${plane.publicUrl} key ${config.ADSWEEP_API_KEY}`);
} catch (error) {
  failStart(error);
}
