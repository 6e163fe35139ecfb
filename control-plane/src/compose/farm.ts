import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Registry } from 'prom-client';
import { bookCharge } from '../accounts/billing/book-charge.ts';
import { ledgerStore } from '../accounts/billing/ledger-store.ts';
import { startWorker } from '../analysis/pipeline/worker.ts';
import { bodyStore } from '../crawling/captures/body-store.ts';
import { captureStore } from '../crawling/captures/capture-store.ts';
import { openScreenshot } from '../crawling/captures/open-screenshot.ts';
import { landingsOf } from '../crawling/captures/present-landings.ts';
import { captureReader } from '../crawling/captures/read-capture.ts';
import { blockedNodes } from '../crawling/fleet/blocked-nodes.ts';
import { startCountingWork } from '../crawling/fleet/count-work.ts';
import { nodes as nodesIn } from '../crawling/fleet/nodes.ts';
import { blockNode } from '../crawling/leases/block-node.ts';
import { startReaper } from '../crawling/leases/reaper.ts';
import { startRefill } from '../crawling/leases/refill.ts';
import { admitNode } from '../crawling/node-api/admit-node.ts';
import { leaseRoutes } from '../crawling/node-api/lease-routes.ts';
import { uploadRoutes } from '../crawling/node-api/upload-routes.ts';
import { enqueueScan } from '../crawling/queue/enqueue-scan.ts';
import { crawlQueue } from '../crawling/queue/queue.ts';
import { eventStore } from '../delivery/events/event-store.ts';
import { recordEvent } from '../delivery/events/record-event.ts';
import { startMeasuringOutboxes, startRelay } from '../delivery/outbox/relay.ts';
import { farmMetrics } from '../metrics.ts';
import type { ObjectStore } from '../platform/object-store.ts';
import type { OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { RedisClient } from '../platform/redis.ts';
import type { Loop } from '../platform/start-loop.ts';
import type { Store } from '../platform/store.ts';
import { createWakeSignal } from '../platform/wake-signal.ts';
import { artifactStore } from '../scanning/artifacts/artifact-store.ts';
import type { ScanRecord } from '../scanning/scans/state/scan.ts';
import { scanStore } from '../scanning/scans/state/scan-store.ts';
import { startSweeping } from './start-sweeping.ts';

export type FarmParts = {
  store: Store;
  redis: RedisClient;
  objects: ObjectStore;
  registry: Registry;
  logger: Logger;
  /** How clients reach the API, without a final slash. */
  publicUrl: string;
  /** Join tokens of nodes, separated by commas. */
  joinTokens: string;
  leaseSecret: string;
  /** How many queues the organizations are spread over. */
  shards?: number;
};

/** The farm's side of the control plane: the node API, and the loops that bring scans from one state to the next. */
export type Farm = ReturnType<typeof createFarm>;

export function createFarm(parts: FarmParts) {
  const { store, redis, objects, logger, publicUrl, joinTokens, leaseSecret } = parts;
  const [scans, captures, ledger, events] = [
    scanStore(store),
    captureStore(store),
    ledgerStore(store),
    eventStore(store),
  ];
  const artifacts = artifactStore(store, objects);
  const bodies = bodyStore(artifacts);
  const queue = crawlQueue(redis, parts.shards);
  const nodes = nodesIn(redis);
  const blocked = blockedNodes(store);
  const metrics = farmMetrics(parts.registry);
  const [crawled, filled] = [createWakeSignal(), createWakeSignal()];
  const readCapture = captureReader(captures);

  const outboxFilled = () => filled.raise();
  const accepted = () => {
    crawled.raise();
    filled.raise();
  };
  const handlers: OutboxHandlers = {
    charge: (entry, origin) => bookCharge(ledger, entry, origin),
    refund: (entry, origin) => bookCharge(ledger, entry, origin),
    event: (entry, origin) => recordEvent(events, entry, origin),
  };
  const relaying = { sources: [scans.outbox], handlers };
  const shared = { scans, captures, artifacts, bodies, queue, nodes, blocked, metrics, logger, publicUrl, leaseSecret };
  const dependencies = { ...shared, ...relaying, readCapture, outboxFilled, accepted };

  return {
    /** What the verbs of the farm need, for who calls one by itself. */
    dependencies,
    queue,
    nodes,
    /** Says that there is something in a scan's outbox, so that it is carried out at once. */
    outboxFilled,
    /** Routes of the node API and who may call them. */
    nodeRoutes: [...leaseRoutes(dependencies), ...uploadRoutes(dependencies)],
    admitNode: admitNode({ joinTokens, leaseSecret, blocked }),
    blockNode: (nodeId: string) => blockNode(dependencies, nodeId, new Date()),
    unblockNode: (nodeId: string) => blocked.remove(nodeId),
    /** Puts a pending scan's job into the index of work, or takes it out. */
    enqueue: async (scan: ScanRecord): Promise<void> => void (await enqueueScan(queue, scan, new Date())),
    unqueue: async (scan: ScanRecord): Promise<void> => void (await queue.drop(scan.organization_id, scan._id)),
    /** The landings that a scan's capture tells of, none before there is one. */
    landingsOf: async (scan: ScanRecord) => {
      const record = await readCapture(scan);
      return record ? landingsOf(record) : [];
    },
    openScreenshot: (scan: ScanRecord, ord: number) => openScreenshot(readCapture, artifacts, scan, ord),

    async createIndexes(): Promise<void> {
      for (const one of [scans, captures, artifacts, ledger, events]) await one.createIndexes();
    },

    /** Starts the loops; `stop` ends them, each after the turn it is in. */
    start(): Loop {
      const loops = [
        startRefill(dependencies),
        startReaper(dependencies),
        startWorker(dependencies, crawled),
        startRelay(dependencies, filled),
        startMeasuringOutboxes(dependencies),
        startCountingWork(dependencies),
        startSweeping({ store, objects, artifacts, logger }),
      ];
      return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
    },
  };
}
