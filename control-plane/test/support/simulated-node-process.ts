import { seededRandom } from '../../../shared/test/support/seeded-random.ts';
import { runSimulatedNode } from './run-simulated-node.ts';

/** A simulated node as a process of its own: what it needs to know is in its environment. */
const { NODE_ID = '', NODE_API_URLS = '', JOIN_TOKEN = '', SEED = '', SLOTS = '4', ROUTER_URL = '' } = process.env;
// Whoever started it may be killed.
process.on('disconnect', () => process.exit());
await runSimulatedNode({
  nodeId: NODE_ID,
  urls: NODE_API_URLS.split(','),
  joinToken: JOIN_TOKEN,
  slots: Number(SLOTS),
  routerUrl: ROUTER_URL,
  random: seededRandom(Number(SEED)),
});
