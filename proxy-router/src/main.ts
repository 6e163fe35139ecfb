import { setFlagsFromString } from 'node:v8';
import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { failStart } from '@adsweep/shared/service/operator-error.ts';
import { stopOnSignal } from '@adsweep/shared/service/shutdown.ts';
import { readConfig } from './config.ts';
import { createProviders } from './providers/index.ts';
import { startRouter } from './start-router.ts';

// Nearly all that a gateway allocates are buffers outside of V8's heap. By default every 64 MB of them bring a full collection, a third of
// the CPU that a tunnel costs; counted like the rest of the heap they bring one in four.
setFlagsFromString('--external-memory-accounted-in-global-limit');

try {
  const config = readConfig();
  const logger = createLogger('proxy-router', config.ADSWEEP_LOG_LEVEL);
  const router = await startRouter(config, createProviders, logger);
  // A part may take the time that tunnels are given, and then some.
  stopOnSignal(logger, () => router.stops, config.ADSWEEP_DRAIN_SECONDS * 1000 + 4_000);
  announceReady(logger, router.ports);
} catch (error) {
  failStart(error);
}
