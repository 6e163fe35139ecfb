import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { createDomains } from '../../../src/compose/domains.ts';
import { dispatchDue } from '../../../src/delivery/notifications/dispatch.ts';
import { relay } from '../../../src/delivery/outbox/relay.ts';
import { startDouble } from '../../support/alert-doubles.ts';
import { alertedFinishes, judgedScan, slackDestination } from '../../support/alerted-finishes.ts';
import { mortalStore } from '../../support/mortal-store.ts';
import { type RunningFarm, runningFarm } from '../../support/running-farm.ts';

/** `ADSWEEP_CHAOS=long`: as many as the project promises. */
const FINISHES = process.env.ADSWEEP_CHAOS === 'long' ? 2_000 : 40;
const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? 24);
const FINISHES_AT_ONCE = 5;
const WAITING_MAX = 40;
const WRITES_OF_A_LIFE = 80;
/** After this every claim of a dead process has expired. */
const CLAIMS_EXPIRE_MS = 200_000;
/** After this alerts have waited for others long enough. */
const GROUPED_MS = 61_000;

let farm: RunningFarm;
let slack: Awaited<ReturnType<typeof startDouble>>;
before(async () => {
  farm = await runningFarm();
  // Every life of a process adds its own.
  farm.redis.client.setMaxListeners(0);
  slack = await startDouble(() => ({ status: 200, body: 'ok' }));
});
after(async () => {
  slack.stop();
  await farm.stop();
});

const organization_id = `organization-${newId()}`;

describe('relays and dispatchers that are killed', () => {
  test('§2.8.13 at any write create no alert twice, miss none, and tell people of each at least once', async (context) => {
    const random = seededRandom(SEED);
    const finishes = alertedFinishes(await judgedScan(farm, organization_id));
    await slackDestination(farm.store, farm.parts.secrets, organization_id, `${slack.url}/hook`);

    context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const pass = (ms: number) => context.mock.timers.setTime(Date.now() + ms);
    let lives = 0;
    /** Outboxes, notices and messages that are to be carried out. */
    const waiting = async (): Promise<number> => {
      const backlogs = farm.farm.dependencies.sources.map(async (source) => (await source.backlog(100)).records);
      const queued = [
        farm.store.collection('alert_notices').countDocuments({ message_id: '' }),
        farm.store.collection('alert_messages').countDocuments({}),
      ];
      return (await Promise.all([...backlogs, ...queued])).reduce((sum, count) => sum + count, 0);
    };
    const isDone = async () => finishes.count === FINISHES && (await waiting()) === 0;
    for (; !(await isDone()); lives += 1) {
      pass(CLAIMS_EXPIRE_MS);
      const { store, isDead } = mortalStore(farm.store, Math.ceil(random() * WRITES_OF_A_LIFE), random() < 0.5);
      const { delivery } = createDomains({ ...farm.parts, store }, farm.parts);
      while (!isDead() && !(await isDone())) {
        // No alert may wait for a day: after that it is given up.
        const isFree = (await waiting()) < WAITING_MAX;
        for (let n = 0; isFree && n < FINISHES_AT_ONCE && finishes.count < FINISHES; n += 1)
          await finishes.finish(farm.store);
        await relay(delivery.dependencies, new Date()).catch(() => undefined);
        pass(GROUPED_MS);
        await dispatchDue(delivery.dependencies.dispatching).catch(() => undefined);
      }
      for (const loop of delivery.loops.api()) await loop.stop();
    }

    await finishes.assertRaisedOnce(farm.store);
    const again = finishes.assertTold(slack.received);
    context.diagnostic(
      `seed ${SEED}: ${FINISHES} finishes, ${lives} lives, ${slack.received.length} messages, ${again} alerts told again`,
    );
    assert.ok(lives > FINISHES / 20, `${lives} lives`);
  });
});
