import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Artifact } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { type MemberLease, NodeApiError } from '@adsweep/shared/lease/client.ts';
import { listen } from '@adsweep/shared/service/listen.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import sharp from 'sharp';
import { until } from '../../../shared/test/support/until.ts';
import { ledgerStore } from '../../src/accounts/billing/ledger-store.ts';
import type { AnalysisSettings } from '../../src/analysis/analysis.ts';
import { nodeApp } from '../../src/compose/create-app.ts';
import type { Domains } from '../../src/compose/domains.ts';
import { reap } from '../../src/crawling/leases/reaper.ts';
import { shardKeys } from '../../src/crawling/queue/queue-shards.ts';
import { type EventRecord, eventStore } from '../../src/delivery/events/event-store.ts';
import type { Loop } from '../../src/platform/start-loop.ts';
import { cancelScan } from '../../src/scan/cancel.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { scanStore } from '../../src/scan/scan-store.ts';
import { newScan } from '../../src/scanning/scans/request/new-scan.ts';
import { NODE_TOKEN, openPlane, type PlaneOptions, PRICE_MICROS } from './open-plane.ts';
import { type LeaseOfFirst, SimulatedNode } from './simulated-node.ts';

/** Whether an error is the refusal of a node whose lease was lost. */
export const isLeaseLost = (error: unknown): boolean =>
  error instanceof NodeApiError && error.status === 409 && error.code === 'lease.lost';

export type RunningFarm = Awaited<ReturnType<typeof runningFarm>>;

export type FarmOptions = Pick<PlaneOptions, 'connect' | 'open' | 'openFiles'> &
  Partial<Pick<AnalysisSettings, 'model'>>;

/**
 * The farm's side of the control plane with its node API on a free port, over a store in memory and a Redis of its own.
 */
export async function runningFarm({ model = null, ...options }: FarmOptions = {}) {
  const plane = await openPlane({ ...options, settings: { model } });
  const { redis, store, objects, registry, folder, domains } = plane;
  const farm = farmOf(domains);

  const server = await listen('127.0.0.1', 0, 'ADSWEEP_NODE_API_PORT');
  server.serve(nodeApp({ ...plane, readyChecks: [], metricsToken: NODE_TOKEN }).callback());
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const scans = scanStore(store);
  const [ledger, events] = [ledgerStore(store), eventStore(store)];
  const loops: Loop[] = [];

  return {
    farm,
    redis,
    store,
    objects,
    registry,
    tags: domains.reference.stores.tags,
    rules: domains.analysis.stores.rules,
    taxonomies: domains.analysis.stores.taxonomies,
    scans,
    ledger,
    events,
    baseUrl,
    parts: { ...plane.platform, ...plane.settings },
    node: new SimulatedNode(baseUrl, NODE_TOKEN),

    startLoops(): Loop {
      const loop = farm.start();
      loops.push(loop);
      return loop;
    },

    /** Stores a scan with its job in the queue. */
    async submit(changes: Partial<ScanRecord> = {}): Promise<ScanRecord> {
      const scan = pendingScan(changes);
      await scans.insertUnlessExists(scan);
      if (scan.status === 'pending') await farm.enqueue([scan]);
      return scan;
    },

    async acquireOne(): Promise<LeaseOfFirst> {
      const { leases } = await this.node.acquire({ node_id: 'node-1', max: 1, wait_ms: 0 });
      if (!leases[0]) throw new Error('there is no work');
      return leases[0];
    },

    /** The lease of a scan that is submitted for it. */
    async leased(changes: Partial<ScanRecord> = {}): Promise<LeaseOfFirst> {
      const scan = await this.submit(changes);
      const lease = await this.acquireOne();
      if (lease.scan_id !== scan._id) throw new Error('another scan is leased');
      return lease;
    },

    async read(id: string): Promise<ScanRecord> {
      const scan = await store.collection<ScanRecord>('scans').findOne({ _id: id });
      if (!scan) throw new Error('the scan is gone');
      return scan;
    },

    /** Cancels a scan as a client does; whether it was pending. */
    async cancel(id: string, unqueue = farm.unqueue): Promise<boolean> {
      const { logger: log } = plane.platform;
      const parts = { scans, unqueue, outboxFilled: () => {}, log };
      return (await cancelScan(parts, await this.read(id), new Date())) !== null;
    },

    /** Resolves when nothing is stored for the attempts of a scan. */
    untilDiscarded: (scan_id: string) =>
      until('its evidence to be discarded', async () => {
        const counts = ['captures', 'artifacts'].map((name) => store.collection(name).countDocuments({ scan_id }));
        return (await Promise.all(counts)).every((count) => count === 0);
      }),

    /** As if no scan had ever been submitted. */
    async forgetScans(): Promise<void> {
      await store.collection('scans').deleteMany({});
      await redis.client.flushall();
    },

    /** Makes the deadline of a job's lease lie in the past. */
    expireLease: (jobId: string) => redis.client.zadd(shardKeys(0).leased, 'XX', 1, jobId),
    /** Reaps expired leases at once, as the loops of a farm would. */
    reapNow: () => reap(farm.dependencies, new Date()),
    /** Removes all files that are due for removal at `now`. */
    async sweepAll(now: Date): Promise<void> {
      while ((await farm.dependencies.artifacts.sweep(now)) > 0);
    },
    /** Makes a delayed job due. */
    makeDue: (jobId: string) => redis.client.zadd(shardKeys(0).delayed, 'XX', 1, jobId),

    async ledgerOf(organizationId: string) {
      const { rows } = await ledger.list(organizationId, { types: null, created: null }, 0, 100);
      return rows.map(({ _id, amount_micros }) => [_id, amount_micros]);
    },

    /** Names of the files stored for the attempt of a lease's first member, and how many uploads are being written. */
    objectsOf: ({ lease_id, scan_id }: MemberLease) => filesIn(join(folder, 'scans', scan_id, lease_id.split('.')[0]!)),
    filesOf: (scanId: string) => filesIn(join(folder, 'scans', scanId), true),
    incoming: async () => (await filesIn(join(folder, '.incoming'))).length,

    /** The organization's events, those of a scan in the order they occurred. */
    eventsOf: (organizationId: string): Promise<EventRecord[]> =>
      store
        .collection<EventRecord>('events')
        .find({ organization_id: organizationId })
        .sort({ scan_id: 1, sequence: 1 })
        .toArray(),

    async value(metric: string, labels: Record<string, string>): Promise<number> {
      const found = await registry.getSingleMetric(metric)?.get();
      const matches = (own: Record<string, unknown>) =>
        Object.entries(labels).every(([name, value]) => own[name] === value);
      return found?.values.find((one) => matches(one.labels))?.value ?? 0;
    },

    async stop(): Promise<void> {
      await Promise.all(loops.map((loop) => loop.stop()));
      await server.close(0);
      await plane.stop();
    },
  };
}

/** The farm's side of the control plane: what nodes call, what the loops need, and all loops. */
function farmOf({ crawling, analysis, delivery, scanning }: Domains) {
  const { queue, nodes } = crawling.dependencies;
  return {
    ...crawling.verbs,
    queue,
    nodes,
    nodeRoutes: crawling.routes['node-api'],
    admitNode: crawling.verbs.admit,
    dependencies: { ...analysis.dependencies, ...delivery.dependencies, ...crawling.dependencies },
    start(): Loop {
      const { reaper, refill } = crawling.loops;
      const starts = [refill, reaper, analysis.loops.checks, delivery.loops.relay, scanning.loops.sweeper];
      const loops = starts.flatMap((start): Loop[] => start());
      return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
    },
  };
}

async function filesIn(folder: string, recursive = false): Promise<string[]> {
  try {
    const found = await readdir(folder, { recursive, withFileTypes: true });
    return found.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const REQUESTED = { url: 'https://shop.example/landing', emulator_id: 'windows_chrome' };
const NO_POOLS: Catalogue = { refreshed_at: '2026-01-02T03:04:05.000Z', pools: [] };

/** A scan of an organization of its own. */
function pendingScan(changes: Partial<ScanRecord> = {}): ScanRecord {
  const scanId = changes._id ?? newId();
  const organizationId = changes.organization_id ?? `organization-of-${scanId}`;
  const order = { organizationId, priceMicros: PRICE_MICROS };
  const scan = newScan(REQUESTED, { id: scanId, country: 'US' }, NO_POOLS, order, new Date());
  return { ...scan, report_token: `report-${scanId}`, ...changes };
}

const hop = (url: string, redirected_from: string) => ({
  url,
  kind: 'http' as const,
  status_code: 200,
  content_type: 'text/html',
  body_size: 1000,
  timestamp_ms: 10,
  redirected_from,
});

/** A capture of a page that was reached by these addresses; other parts may be replaced. */
export function captureOf(chain: string[], changes: Partial<Capture> = {}): Capture {
  const final_url = chain.at(-1) ?? '';
  return {
    started_at: '2026-01-02T03:04:05.000Z',
    elapsed_ms: 4321,
    browser: { name: 'chromium', version: '1.2.3' },
    exit: null,
    traffic: null,
    landings: [
      {
        ord: 0,
        opener_url: '',
        final_url,
        page_title: 'A page',
        site_name: '',
        redirect_chain: chain.map((url, at) => hop(url, chain[at - 1] ?? '')),
        screenshot: null,
        opened_at_ms: 0,
        elapsed_ms: 4000,
      },
    ],
    requests: [],
    observations: [],
    artifacts: [],
    notes: [],
    ...changes,
  };
}

/** So many landings, the page's own first. */
export const sampleLandings = (count: number): Capture['landings'] =>
  Array.from({ length: count }, (_, ord) => ({ ...captureOf(['https://shop.example/']).landings[0]!, ord }));

/** Request `id` of landing 0's last hop. */
export const requestOf = (id: number, changes: Partial<NetworkRequest> = {}): NetworkRequest => ({
  id,
  url: `https://shop.example/file-${id}`,
  method: 'GET',
  resource_type: 'script',
  status_code: 200,
  content_type: 'text/javascript',
  body_size: 10,
  timestamp_ms: id,
  landing: 0,
  hop: 0,
  initiator: null,
  ...changes,
});

export const webp = (width = 40, height = 30): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: '#3366cc' } })
    .webp()
    .toBuffer();

export const gzJson = (value: unknown): Buffer => gzipSync(JSON.stringify(value));

/** How a capture names an artifact of these bytes. */
export const named = (name: string, bytes: Buffer, content_type = 'image/webp'): Artifact => ({
  name,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  bytes: bytes.length,
  content_type,
  width: 0,
  height: 0,
});
