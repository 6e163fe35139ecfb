import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@adsweep/shared/ids.ts';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { alertStore } from '../../../src/delivery/alerts/alert-store.ts';
import { LINES_MAX } from '../../../src/delivery/notifications/alert-message.ts';
import { secretsUnder } from '../../../src/platform/secrets.ts';
import type { Store, StoreLocation } from '../../../src/platform/store.ts';
import { scanStore } from '../../../src/scan/scan-store.ts';
import { startDouble } from '../../support/alert-doubles.ts';
import { ALERTS_PER_FINISH, alertedFinishes, judgedScan, slackDestination } from '../../support/alerted-finishes.ts';
import { startMongodbServer } from '../../support/mongodb-server.ts';
import { testOnEachStore, withStore } from '../../support/on-each-store.ts';
import { planeSettings } from '../../support/plane-settings.ts';
import { startRedis } from '../../support/private-redis.ts';
import { Replica } from '../../support/replica.ts';
import { runningFarm } from '../../support/running-farm.ts';

/** `npm run test:all` ends a few processes during 20 finishes, `npm run chaos` during 2,000, and on MongoDB too. */
const IS_LONG = process.env.ADSWEEP_CHAOS === 'long';
const FINISHES = IS_LONG ? 2_000 : 20;
/** So many more are finished whenever fewer are waiting. */
const FINISHED_AT_ONCE = IS_LONG ? 60 : FINISHES;
/** A process works for so long at most before it is killed. */
const LIFE_MS = 500;
/** After this every claim of a dead process has expired, and alerts have waited for others long enough. */
const CLAIMS_EXPIRE_MS = 200_000;
const SECRETS_KEY = 'key-for-secrets-of-this-test';
const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? randomInt(2 ** 31));

const mongodb = IS_LONG ? await startMongodbServer() : 'only in npm run chaos';
testOnEachStore(
  `§2.8.13 processes that relay and dispatch and are killed at any moment raise each alert once, and tell of each (seed ${SEED})`,
  mongodb,
  (mongodbUrl, context) => killAgainAndAgain((text) => context.diagnostic(text), mongodbUrl),
);

/** A scan as analysis leaves it, to be finished many times over. */
async function judged(organizationId: string) {
  const farm = await runningFarm();
  return judgedScan(farm, organizationId).finally(() => farm.stop());
}

/** Outboxes, notices and messages that are to be carried out. */
async function waitingIn(store: Store): Promise<number> {
  const backlogs = [scanStore(store), alertStore(store)].map(
    async ({ outbox }) => (await outbox.backlog(10_000)).records,
  );
  const queued = [
    store.collection('alert_notices').countDocuments({ message_id: '' }),
    store.collection('alert_messages').countDocuments({}),
  ];
  return (await Promise.all([...backlogs, ...queued])).reduce((sum, count) => sum + count, 0);
}

async function killAgainAndAgain(say: (text: string) => void, mongodbUrl: string | null): Promise<void> {
  const random = seededRandom(SEED);
  const organizationId = `organization-${newId()}`;
  const finishes = alertedFinishes(await judged(organizationId));
  const [redis, folder] = [await startRedis(), await mkdtemp(join(tmpdir(), 'adsweep-relays-'))];
  const location: StoreLocation = mongodbUrl ? { mongodbUrl } : { path: join(folder, 'store.db') };
  const onStore = <T>(use: (store: Store) => Promise<T>) => withStore(location, use);
  const slack = await startDouble(() => ({ status: 200, body: 'ok' }));
  const env = {
    ...planeSettings({
      ...{ folder, redisUrl: redis.url, proxyUrl: 'http://127.0.0.1:9' },
      ...{ nodeToken: 'node-token-of-this-test', apiKey: 'api-key-of-this-test' },
    }),
    ...{ ADSWEEP_ROLES: 'relay,dispatcher', ADSWEEP_SECRETS_KEY: SECRETS_KEY, ADSWEEP_DELIVERY_ALLOW: '127.0.0.0/8' },
    ...{ ADSWEEP_LOG_LEVEL: 'error', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled') },
    ...(mongodbUrl && { MONGODB_URL: mongodbUrl }),
  };
  let replica = new Replica(env);
  /** What is waiting, after more scans were finished if that is little. */
  const finishMore = () =>
    onStore(async (store) => {
      if ((await waitingIn(store)) < FINISHED_AT_ONCE)
        for (let n = 0; n < FINISHED_AT_ONCE && finishes.count < FINISHES; n += 1) await finishes.finish(store);
      return waitingIn(store);
    });
  try {
    await replica.start(); // It creates the indexes.
    await replica.kill();
    await onStore((store) => slackDestination(store, secretsUnder([SECRETS_KEY]), organizationId, `${slack.url}/hook`));
    let [kills, atWork, afterAll] = [0, 0, 0];
    let waiting = await finishMore();
    for (; waiting > 0 || finishes.count < FINISHES; kills += 1) {
      replica = new Replica(env, (kills + 1) * CLAIMS_EXPIRE_MS);
      await replica.start();
      // When all scans are finished, each process has more time than the one before.
      if (finishes.count === FINISHES) afterAll += 1;
      await pause(random() * LIFE_MS * 1.5 ** afterAll);
      await replica.kill();
      waiting = await finishMore();
      if (waiting > 0) atWork += 1;
    }
    await onStore(finishes.assertRaisedOnce);
    const again = finishes.assertTold(slack.received);
    say(
      `${FINISHES} finishes, ${FINISHES * ALERTS_PER_FINISH} alerts, ${kills} kills, ${atWork} with work left, ${slack.received.length} messages, ${again} alerts told again`,
    );
    assert.ok(again <= kills * LINES_MAX, `${again} told again`);
  } finally {
    await replica.end();
    slack.stop();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
