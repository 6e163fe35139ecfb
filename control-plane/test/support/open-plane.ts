import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { createDomains, createIndexes, type Settings } from '../../src/compose/domains.ts';
import { createMetrics, workMetrics } from '../../src/metrics.ts';
import { openBroadcast } from '../../src/platform/broadcast.ts';
import type { DiskSpace } from '../../src/platform/disk-space.ts';
import type { Mailer } from '../../src/platform/mail.ts';
import { openDiskObjects } from '../../src/platform/objects/disk-objects.ts';
import type { ObjectStore } from '../../src/platform/objects/object-store.ts';
import type { RedisClient } from '../../src/platform/redis.ts';
import { secretsUnder } from '../../src/platform/secrets.ts';
import { openStore, type Store } from '../../src/platform/store.ts';
import { openWakeHub } from '../../src/platform/wake-hub.ts';
import { interceptable } from './interceptable-store.ts';
import { startMongodbServer } from './mongodb-server.ts';
import { type PrivateRedis, startRedis } from './private-redis.ts';

export const NODE_TOKEN = 'the-token-of-all-nodes';
export const NEXT_NODE_TOKEN = 'the-next-token-of-all-nodes';
export const PUBLIC_URL = 'https://adsweep.example';
export const PRICE_MICROS = 10_000;

export type PlaneOptions = {
  /**
   * Opens its store; by default one in memory, or with `ADSWEEP_TEST_STORE=mongodb` a database of its own on a server
   * of MongoDB.
   */
  open?: () => Promise<Store>;
  /** Opens its files; by default in a folder of its own. */
  openFiles?: (folder: string) => Promise<ObjectStore>;
  /** How it reaches Redis; by default over the connection that the test has. */
  connect?: (redis: PrivateRedis) => Promise<RedisClient>;
  settings?: Partial<Settings>;
  /** By default there is no mail server. */
  mailer?: Mailer | null;
};

export type Plane = Awaited<ReturnType<typeof openPlane>>;

async function openTestStore(): Promise<Store> {
  if (process.env.ADSWEEP_TEST_STORE !== 'mongodb') return openStore({ path: ':memory:' });
  const server = await startMongodbServer();
  if (typeof server === 'string') throw new Error(server);
  const store = await openStore({ mongodbUrl: server.url });
  const close = async () => {
    await store.close();
    await server.stop();
  };
  return { ...store, close };
}

/**
 * All domains of a control plane, as every process creates them, over a store and a Redis of their own. Changes of keys
 * and organizations take effect at once. No loop runs and nothing is served yet.
 */
export async function openPlane({
  open = openTestStore,
  openFiles = openDiskObjects,
  connect = async ({ client }) => client,
  settings: changes = {},
  mailer = null,
}: PlaneOptions = {}) {
  const logger = createLogger('test', 'silent');
  const metrics = createMetrics();
  const [redis, opened, folder] = await Promise.all([startRedis(), open(), mkdtemp(join(tmpdir(), 'adsweep-plane-'))]);
  const { store, intercept } = interceptable(opened);
  const [objects, connection] = await Promise.all([openFiles(folder), connect(redis)]);
  /** A disk with room, until a test says otherwise. */
  const disk: DiskSpace = { requireFree: async () => {}, freeAboveFloor: async () => 0 };
  const [wake, broadcast] = [openWakeHub(connection), openBroadcast(connection)];
  const closing = new AbortController();
  const platform = {
    ...{ store, redis: connection, objects, disk, wake, broadcast, logger },
    ...{ metrics: workMetrics(metrics.registry), closing: closing.signal },
    ...{ secrets: secretsUnder(['the key for secrets of this test']), mailer },
  };
  const settings: Settings = {
    publicUrl: PUBLIC_URL,
    hasConsole: true,
    dataDir: folder,
    addresses: new AddressPolicy(['198.41.0.0/24', '2a02:500::/32'], () => ['198.41.9.9', '2a02:900::9']),
    egress: new EgressPolicy(['127.0.0.0/8'], []),
    telegramApiUrl: 'http://127.0.0.1:9',
    proxyUrl: 'http://127.0.0.1:9',
    catalogueEveryMs: 60_000,
    joinTokens: `${NODE_TOKEN},${NEXT_NODE_TOKEN}`,
    leaseSecret: 'a secret that signs leases',
    oauthRegistration: true,
    ruleBudgetMs: 2_000,
    model: null,
    checkPriceMicros: PRICE_MICROS,
    startBalanceMicros: null,
    storedMbPerDay: 1_024,
    rememberedMs: 0,
    ...changes,
  };
  const domains = createDomains(platform, settings);
  await createIndexes(platform, domains);

  return {
    ...{ domains, platform, settings, metrics, registry: metrics.registry },
    ...{ redis, store, intercept, objects, folder, logger },
    /** As a process does first when it is told to stop. */
    close: () => closing.abort(),
    async stop(): Promise<void> {
      closing.abort();
      await store.close();
      wake.stop();
      broadcast.stop();
      connection.disconnect();
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
