import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';

/** Logs numbered lines without end; SIGTERM ends it between two turns of its event loop, as it does a service. */
const logger = createLogger('talkative');
announceReady(logger, {});
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
let line = 0;
setInterval(() => {
  for (let index = 0; index < 50; index++) logger.info({ line: line++ }, 'a line like many others');
}, 1);
