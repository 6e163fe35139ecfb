import { firstSecret } from '@adsweep/shared/service/bearer.ts';
import type { AccountsDomain } from '../accounts/accounts.ts';
import type { Domain } from '../domain.ts';
import type { Platform } from '../platform/platform.ts';
import { rememberBriefly } from '../platform/remember-briefly.ts';
import type { ScanRecord } from '../scan/scan.ts';
import type { ScanDomain } from '../scan/scan-domain.ts';
import type { PublicUrls } from '../scan/scan-links.ts';
import type { PictureOf } from '../scanning/artifacts/artifact.ts';
import type { ScanningDomain } from '../scanning/scanning.ts';
import { NO_SCAN_EVIDENCE, type ScanEvidence } from '../scanning/scans/api/evidence.ts';
import { bodyStore } from './captures/body-store.ts';
import { captureReader, packedCaptureReader } from './captures/capture-record.ts';
import { captureStore } from './captures/capture-store.ts';
import { findFile, findPicture } from './captures/find-artifact.ts';
import { evidenceOf } from './captures/present-evidence.ts';
import { startCountingWork } from './fleet/count-work.ts';
import { enrolmentRoutes } from './fleet/enrolment-routes.ts';
import { enrolmentStore } from './fleet/enrolments.ts';
import { fleetRoutes } from './fleet/fleet-routes.ts';
import { fleetView, markedNodes, nodes as nodesIn, orderBroadcast } from './fleet/nodes.ts';
import { workRoutes } from './fleet/work-routes.ts';
import { unqueue } from './leases/close-lease.ts';
import { blockNode, drainNode, revokeNode } from './leases/order-node.ts';
import { startReaper } from './leases/reaper.ts';
import { startRefill } from './leases/refill.ts';
import { admitNode, type NodeCaller } from './node-api/admit-node.ts';
import { enrolRoutes } from './node-api/enrol-routes.ts';
import { leaseRoutes, memberRoutes } from './node-api/lease-routes.ts';
import { uploadRoutes } from './node-api/upload-routes.ts';
import { planRoutes } from './plan/plan-routes.ts';
import { crawlQueue, startPromoting } from './queue/queue.ts';
import type { LeaseCapOf } from './queue/queue-shards.ts';
import { waitingJobOf } from './queue/waiting-jobs.ts';
import { type RetentionDays, retentionStore, startRetention } from './retention/remove-old.ts';
import { decisionRoutes } from './scaler/decision-routes.ts';
import { decisionStore } from './scaler/decision-store.ts';
import { type ScalerSettings, startScaler } from './scaler/run-scaler.ts';

export type CrawlingSettings = PublicUrls & {
  /** Join tokens of nodes, separated by commas. */
  joinTokens: string;
  leaseSecret: string;
  /** The number of queues over which organizations are distributed. */
  shards?: number | undefined;
  /** Null or unset: the scaler is off. */
  scaler?: ScalerSettings | null;
  /** For how long scans are kept; unset: for ever. */
  retention?: RetentionDays;
};

/** How long the files count as reachable once they were, in ms. */
const REACHABLE_MS = 5_000;

const KEEP_FOR_EVER: RetentionDays = { scans: 0, evidence: 0 };

/**
 * What crawling needs: the scans, the files that nodes upload, and the reservation of checks for the ads that sweeps
 * find.
 */
export type CrawlingNeeds = Pick<ScanDomain['stores'], 'scans'> &
  Pick<ScanningDomain['stores'], 'artifacts'> &
  Pick<AccountsDomain['verbs'], 'reserve'> & { leaseCapOf: LeaseCapOf };

export type CrawlingDomain = ReturnType<typeof crawlingDomain>;

/** Crawl jobs, browser nodes and captures. */
export function crawlingDomain(
  { store, objects, disk, redis, wake, broadcast, metrics, closing, logger }: Platform,
  { scans, artifacts, reserve, leaseCapOf }: CrawlingNeeds,
  {
    publicUrl,
    hasConsole,
    joinTokens,
    leaseSecret,
    shards,
    scaler = null,
    retention = KEEP_FOR_EVER,
  }: CrawlingSettings,
) {
  const [captures, decisions] = [captureStore(store), decisionStore(store)];
  const [bodies, readCapture] = [bodyStore(artifacts), captureReader(captures)];
  const readPackedCapture = packedCaptureReader(captures);
  const queue = crawlQueue(redis, { shards, wake, leaseCapOf });
  const nodes = nodesIn(redis);
  const [blocked, draining] = [markedNodes(store, 'blocked_nodes'), markedNodes(store, 'draining_nodes')];
  const fleet = fleetView(nodes, blocked, draining);
  const orders = orderBroadcast(broadcast);
  const enrolments = enrolmentStore(store);

  const outboxFilled = () => wake.announce('scan-outbox');
  const accepted = () => {
    wake.announce('checks');
    outboxFilled();
  };
  const reachable = rememberBriefly(() => objects.ping(), REACHABLE_MS);
  const positions = retentionStore(store);
  const records = { scans, captures, artifacts, bodies, readCapture, readPackedCapture, positions };
  const dependencies = {
    ...records,
    queue,
    nodes,
    fleet,
    blocked,
    draining,
    enrolments,
    routerSecret: firstSecret(joinTokens),
    watchOrders: orders.watch,
    announceOrder: orders.announce,
    disk,
    requireFiles: () => reachable('files'),
    closing,
    redis,
    metrics,
    logger,
    urls: { publicUrl, hasConsole },
    leaseSecret,
    outboxFilled,
    accepted,
    reserve,
  };

  const fleetVerbs = {
    readFleet: fleet.read,
    readLoad: () => queue.load(),
    blockNode: (nodeId: string) => blockNode(dependencies, nodeId, new Date()),
    unblockNode: (nodeId: string) => blocked.remove(nodeId),
    drainNode: (nodeId: string) => drainNode(dependencies, nodeId, new Date()),
    undrainNode: (nodeId: string) => draining.remove(nodeId),
  };

  const enrolmentVerbs = {
    ...enrolments,
    revokeNode: (nodeId: string) => revokeNode(dependencies, nodeId, new Date()),
  };

  return {
    stores: { captures, decisions },
    routes: {
      /** For the operator of the fleet. */
      api: [
        ...fleetRoutes(fleetVerbs),
        ...enrolmentRoutes(enrolmentVerbs),
        ...workRoutes({ readOrganizations: queue.byOrganization, scans }),
        ...decisionRoutes(decisions),
        ...planRoutes(),
      ],
      'node-api': [
        ...enrolRoutes(dependencies),
        ...leaseRoutes(dependencies),
        ...memberRoutes(dependencies),
        ...uploadRoutes(dependencies),
      ],
    },
    loops: {
      reaper: () => [startReaper(dependencies), startPromoting(dependencies)],
      refill: () => [startRefill(dependencies), startCountingWork(dependencies)],
      sweeper: () => [startRetention(dependencies, retention)],
      scaler: () => (scaler ? [startScaler({ ...dependencies, ...fleetVerbs, decisions }, scaler)] : []),
    },
    outboxHandlers: {},
    verbs: {
      ...fleetVerbs,
      /** Authenticates callers of the node API. */
      admit: admitNode({ joinTokens, leaseSecret, blocked, enrolments }),
      /** Queues the jobs of pending scans. */
      enqueue: async (scans: ScanRecord[]): Promise<void> => {
        const now = new Date();
        const [job, ...others] = scans.map((scan) => waitingJobOf(scan, now));
        if (job && others.length === 0) await queue.enqueue(job);
        else if (job) await queue.enqueueAll([job, ...others]);
      },
      /** Takes a scan's job out of the queue unless another member waits. */
      unqueue: (scan: ScanRecord): Promise<void> => unqueue(dependencies, scan),
      readCapture,
      readPackedCapture,
      /** The contents that a capture's evidence refers to. */
      bodies,
      /** The evidence in a scan's capture; empty before there is one. */
      evidenceOf: async (scan: ScanRecord): Promise<ScanEvidence> => {
        const record = await readCapture(scan);
        return record ? evidenceOf(record) : NO_SCAN_EVIDENCE;
      },
      findPicture: (scan: ScanRecord, of: PictureOf) => findPicture(readCapture, artifacts, scan, of),
      findFile: (scan: ScanRecord, name: string) => findFile(readCapture, artifacts, scan, name),
    },
    dependencies,
  } satisfies Domain<NodeCaller>;
}
