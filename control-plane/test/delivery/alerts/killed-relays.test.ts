import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { createDomains } from '../../../src/compose/domains.ts';
import { type AlertRecord, alertIdOf } from '../../../src/delivery/alerts/alert.ts';
import { newDestination, secretContext } from '../../../src/delivery/notifications/destination.ts';
import { destinationStore } from '../../../src/delivery/notifications/destination-store.ts';
import { dispatchDue } from '../../../src/delivery/notifications/dispatch.ts';
import { relay } from '../../../src/delivery/outbox/relay.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { startDouble } from '../../support/alert-doubles.ts';
import { boundCampaign } from '../../support/bound-campaign.ts';
import { checkCrawled, LOUD } from '../../support/checked-scans.ts';
import { mortalStore } from '../../support/mortal-store.ts';
import { captureOf, type RunningFarm, runningFarm } from '../../support/running-farm.ts';

/** `ADSWEEP_CHAOS=long`: as many as the project promises. */
const FINISHES = process.env.ADSWEEP_CHAOS === 'long' ? 2_000 : 40;
const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? 24);
/** Two alerts each: a message shows all of a campaign. */
const FINISHES_PER_CAMPAIGN = 10;
const FINISHES_AT_ONCE = 5;
const WAITING_MAX = 40;
const WRITES_OF_A_LIFE = 80;
/** After this every claim of a dead process has expired. */
const CLAIMS_EXPIRE_MS = 200_000;
/** After this alerts have waited for others long enough. */
const GROUPED_MS = 61_000;

const AUTOSOUND = { rule_type: 'tag', tag_slug: 'autosound' } as const;
const BACK_BUTTON = { rule_type: 'tag', tag_slug: 'back_button' } as const;

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

/** A scan that was judged, which violates both entries of its campaign's set; and its alerts. */
async function judgedScan() {
  const { campaignId } = await boundCampaign(farm.store, organization_id, [AUTOSOUND]);
  const { _id } = await farm.submit({ organization_id, campaign_id: campaignId });
  await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/'], { observations: [LOUD] }));
  await checkCrawled(farm);
  const scan = await farm.read(_id);
  const entry = scan.outbox.find((one) => one.kind === 'alerts');
  assert.equal(entry?.kind, 'alerts');
  await farm.store.collection('scans').deleteMany({});
  return { scan, entry };
}

describe('relays and dispatchers that are killed', () => {
  test('§2.8.13 at any write create no alert twice, miss none, and tell people of each at least once', async (context) => {
    const random = seededRandom(SEED);
    const { scan: template, entry } = await judgedScan();
    const ids = { _id: newId(), organization_id, channel: 'slack' as const };
    const settings = {
      ...{ name: 'Ops', version: 'public' as const, is_default_target: true, included_label_keys: [] },
      ...{ included_statuses: ['open' as const], route_label_key: null, route_label_values: [] },
    };
    const secret = farm.parts.secrets.seal(`${slack.url}/hook`, secretContext(ids._id));
    const connection = { secret, telegram_chat_id: null, email_address: null };
    await destinationStore(farm.store).insertWithin(newDestination(ids, settings, connection, new Date()));

    context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const pass = (ms: number) => context.mock.timers.setTime(Date.now() + ms);
    const expected = new Map<string, string>();
    let campaign: Awaited<ReturnType<typeof boundCampaign>>;
    /** A finish of another process, which is not killed. */
    const finish = async (number: number): Promise<void> => {
      if (number % FINISHES_PER_CAMPAIGN === 0)
        campaign = await boundCampaign(farm.store, organization_id, [AUTOSOUND, BACK_BUTTON]);
      const { set, campaignId } = campaign;
      const _id = newId();
      const { outbox_at: _, outbox_due_at: __, ...rest } = { ...template, _id, report_token: _id, outbox: [] };
      const scan: ScanRecord = { ...rest, campaign_id: campaignId, status: 'checking' };
      await farm.store.collection<ScanRecord>('scans').insertOne(scan);
      const violations = set.entries.map(({ id: entry_id }, at) => ({
        ...{ ...entry.violations[0]!, entry_id, tag_display_name: `Entry ${at}` },
      }));
      for (const [at, { entry_id }] of violations.entries())
        expected.set(alertIdOf(_id, entry_id), `${_id} Entry ${at}`);
      const about = { ...entry.scan, campaign_id: campaignId, policy_set_id: set._id, report_token: _id };
      const alerts = { ...entry, id: `alerts:${_id}`, at: new Date(), scan: about, violations };
      const judged = { tags: template.tags, classification: template.classification!, extractedLabels: {} };
      const event = { ...judged, network: '', networkHost: '', complete: true, error: '', alerts };
      assert.ok(await changeScan(farm.scans, scan, { type: 'finish', ...event }, new Date()));
    };

    let [finished, lives] = [0, 0];
    /** Outboxes, notices and messages that are to be carried out. */
    const waiting = async (): Promise<number> => {
      const backlogs = farm.farm.dependencies.sources.map(async (source) => (await source.backlog(100)).records);
      const queued = ['alert_notices', 'alert_messages'].map((name) => farm.store.collection(name).countDocuments({}));
      return (await Promise.all([...backlogs, ...queued])).reduce((sum, count) => sum + count, 0);
    };
    const isDone = async () => finished === FINISHES && (await waiting()) === 0;
    for (; !(await isDone()); lives += 1) {
      pass(CLAIMS_EXPIRE_MS);
      const { store, isDead } = mortalStore(farm.store, Math.ceil(random() * WRITES_OF_A_LIFE), random() < 0.5);
      const { delivery } = createDomains({ ...farm.parts, store }, farm.parts);
      while (!isDead() && !(await isDone())) {
        // No alert may wait for a day: after that it is given up.
        const isFree = (await waiting()) < WAITING_MAX;
        for (let n = 0; isFree && n < FINISHES_AT_ONCE && finished < FINISHES; n += 1) await finish(finished++);
        await relay(delivery.dependencies, new Date()).catch(() => undefined);
        pass(GROUPED_MS);
        await dispatchDue(delivery.dependencies.dispatching).catch(() => undefined);
      }
      for (const loop of delivery.loops.api()) await loop.stop();
    }

    const stored = await farm.store.collection<AlertRecord>('alerts').find({ organization_id }).toArray();
    assert.deepEqual(new Set(stored.map(({ _id }) => _id)), new Set(expected.keys()));
    assert.equal(stored.length, 2 * FINISHES);
    const told = slack.received.flatMap(({ body }) =>
      body.blocks.slice(1).map((block: { text: { text: string } }) => {
        const [, name] = /\*(.*?) \(/.exec(block.text.text.replaceAll('\u200b', ''))!;
        const [, token] = /\/r\/([^|]+)\|/.exec(block.text.text)!;
        return `${token} ${name}`;
      }),
    );
    const times = Map.groupBy(told, (one) => one);
    const missing = [...expected.values()].filter((one) => !times.has(one));
    assert.deepEqual(missing, []);
    assert.equal(times.size, 2 * FINISHES);
    context.diagnostic(
      `seed ${SEED}: ${FINISHES} finishes, ${stored.length} alerts, ${lives} lives, ${slack.received.length} messages, ${told.length - times.size} alerts told again`,
    );
    assert.ok(lives > FINISHES / 20, `${lives} lives`);
  });
});
