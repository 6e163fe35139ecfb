import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { ADDRESS_ATTEMPT_MS } from '@adsweep/shared/egress/checked-addresses.ts';
import { announceReady } from '@adsweep/shared/service/announce-ready.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { loseUnwrittenOutput } from '@adsweep/shared/service/lose-unwritten-output.ts';
import { failStart } from '@adsweep/shared/service/operator-error.ts';
import { type Stop, stopOnSignal } from '@adsweep/shared/service/shutdown.ts';
import { startTracing } from '@adsweep/shared/tracing/start-tracing.ts';
import { capturePage } from './capture/capture.ts';
import { readConfig, unreadVariables } from './config.ts';
import { containFaults } from './node/contain-faults.ts';
import { startNode } from './node/start-node.ts';

/** How long each part may take to stop, beyond the time that running captures have. */
const PART_STOPS_IN_MS = 4_000;

// Also for what connects by fetch, or in a library.
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);
loseUnwrittenOutput();

try {
  const config = readConfig();
  const logger = createLogger('browser-node', config.ADSWEEP_LOG_LEVEL).child({ node_id: config.ADSWEEP_NODE_ID });
  for (const name of unreadVariables()) logger.warn({ name }, 'a variable is set that is no setting of this service');
  let stops: Stop[] = [];
  let releaseLeases = () => {};
  const partMs = config.ADSWEEP_DRAIN_SECONDS * 1000 + PART_STOPS_IN_MS;
  stopOnSignal(
    logger,
    () => stops,
    partMs,
    () => releaseLeases(),
  );
  const tracing = await startTracing({ name: 'browser-node', instance: config.ADSWEEP_NODE_ID }, config, logger);
  const node = await startNode(config, capturePage, logger);
  stops = [...node.stops, ...tracing];
  releaseLeases = node.releaseLeases;
  containFaults(process, () => void node.endBrowsers(), logger);
  announceReady(logger, { metrics: node.metricsPort });
} catch (error) {
  failStart(error);
}
