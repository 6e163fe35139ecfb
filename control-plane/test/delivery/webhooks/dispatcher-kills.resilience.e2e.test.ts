import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { EVENT_TYPES } from '../../../src/delivery/webhooks/event-types.ts';
import { secretsUnder } from '../../../src/platform/secrets.ts';
import type { Store, StoreLocation } from '../../../src/platform/store.ts';
import { startMongodbServer } from '../../support/mongodb-server.ts';
import { testOnEachStore, withStore } from '../../support/on-each-store.ts';
import { planeSettings } from '../../support/plane-settings.ts';
import { startRedis } from '../../support/private-redis.ts';
import { queueEvents } from '../../support/queued-events.ts';
import { Replica } from '../../support/replica.ts';

/** `npm run test:all` kills a dispatcher once, `npm run chaos` 50 times during 5,004 deliveries. */
const IS_LONG = process.env.ADSWEEP_CHAOS === 'long';
const { kills: KILLS, scans: SCANS } = IS_LONG ? { kills: 50, scans: 417 } : { kills: 1, scans: 20 };
const ENDPOINTS = 4;
/** Requests between two kills, at most. */
const APART_MAX = Math.floor((1.5 * SCANS * EVENT_TYPES.length * ENDPOINTS) / KILLS);
/** Deliveries of an endpoint in flight (spec 6). */
const WIDTH_MAX = 32;
/** A claim of a killed dispatcher has expired for the next one, whose clock is so much further. */
const CLAIM_OVER_MS = 31_000;
const SECRETS_KEY = 'key-for-secrets-of-this-test';
const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? randomInt(2 ** 31));

const mongodb = await startMongodbServer();
testOnEachStore(
  `§6.4.27 a dispatcher process that is killed (${KILLS} times) loses no event and repeats at most what was in flight (seed ${SEED})`,
  mongodb,
  (mongodbUrl, context) => killAgainAndAgain((text) => context.diagnostic(text), mongodbUrl),
);

type Arrival = { endpoint: string; eventId: string; scanId: string; sequence: number };

/** An endpoint of a client that records what arrives, and answers 204 after a few ms. */
async function startReceiver(random: () => number, arrived: () => void) {
  const arrivals: Arrival[] = [];
  const distinct = new Set<string>();
  const server = http.createServer(async (request, response) => {
    const text = await request.toArray().then(
      (parts) => Buffer.concat(parts).toString(),
      () => '',
    );
    // A dispatcher that was killed while it sent.
    if (text.length !== Number(request.headers['content-length'])) return;
    const { data } = JSON.parse(text);
    const eventId = String(request.headers['webhook-id']);
    arrivals.push({ endpoint: request.url!, eventId, scanId: data.scan_id, sequence: data.sequence });
    distinct.add(`${request.url} ${eventId}`);
    arrived();
    setTimeout(() => response.writeHead(204).end(), 10 * random());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, arrivals, distinct },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function killAgainAndAgain(say: (text: string) => void, mongodbUrl: string | null): Promise<void> {
  const random = seededRandom(SEED);
  const [redis, folder] = [await startRedis(), await mkdtemp(join(tmpdir(), 'adsweep-dispatchers-'))];
  const location: StoreLocation = mongodbUrl ? { mongodbUrl } : { path: join(folder, 'store.db') };
  const onStore = <T>(use: (store: Store) => Promise<T>) => withStore(location, use);
  let killAt = Number.POSITIVE_INFINITY;
  let kill = () => {};
  const expected = SCANS * EVENT_TYPES.length * ENDPOINTS;
  const receiver = await startReceiver(random, () => {
    if (receiver.arrivals.length >= killAt || receiver.distinct.size === expected) kill();
  });
  const env = {
    ...planeSettings({
      ...{ folder, redisUrl: redis.url, proxyUrl: 'http://127.0.0.1:9' },
      ...{ nodeToken: 'node-token-of-this-test', apiKey: 'api-key-of-this-test' },
    }),
    ...{ ADSWEEP_ROLES: 'dispatcher', ADSWEEP_SECRETS_KEY: SECRETS_KEY, ADSWEEP_DELIVERY_ALLOW: '127.0.0.0/8' },
    ...{ ADSWEEP_LOG_LEVEL: 'error', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled') },
    ...(mongodbUrl && { MONGODB_URL: mongodbUrl }),
  };
  let replica = new Replica(env);
  try {
    const urls = Array.from({ length: ENDPOINTS }, (_, at) => `${receiver.url}/${at}`);
    const secrets = secretsUnder([SECRETS_KEY]);
    await onStore((store) => queueEvents(store, secrets, { organizationId: 'organization', urls, scans: SCANS }));
    let kills = 0;
    for (; kills < KILLS && receiver.distinct.size < expected; kills += 1) {
      replica = new Replica(env, kills * CLAIM_OVER_MS);
      const killed = new Promise<void>((resolve) => {
        kill = () => {
          kill = () => {};
          resolve(replica.kill());
        };
      });
      killAt = receiver.arrivals.length + 1 + Math.floor(random() * APART_MAX);
      await replica.start();
      await killed;
    }
    killAt = Number.POSITIVE_INFINITY;
    replica = new Replica(env, kills * CLAIM_OVER_MS);
    await replica.start();
    await until('all to be delivered', () => receiver.distinct.size === expected, 60);
    await replica.end();
    const given = { state: { $in: ['expired', 'dropped'] } };
    assert.equal(await onStore((store) => store.collection('webhook_deliveries').countDocuments(given)), 0);
    const repeated = receiver.arrivals.length - expected;
    say(`${expected} deliveries, ${kills} kills, ${repeated} repeated`);
    assert.ok(repeated <= kills * ENDPOINTS * WIDTH_MAX, `${repeated} repeated`);
    assertInOrder(receiver.arrivals);
  } finally {
    await replica.end();
    receiver.stop();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first arrivals of the events of a scan at an endpoint are in their order. */
function assertInOrder(arrivals: Arrival[]): void {
  const seen = new Map<string, number[]>();
  for (const { endpoint, scanId, sequence } of arrivals) {
    const earlier = seen.get(`${endpoint} ${scanId}`) ?? [];
    if (!earlier.includes(sequence)) seen.set(`${endpoint} ${scanId}`, [...earlier, sequence]);
  }
  for (const [which, sequences] of seen) assert.deepEqual(sequences, [1, 2, 3], which);
}
