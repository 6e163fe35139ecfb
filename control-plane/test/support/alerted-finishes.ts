import assert from 'node:assert/strict';
import { newId } from '@adsweep/shared/ids.ts';
import { type AlertRecord, alertIdOf } from '../../src/delivery/alerts/alert.ts';
import { newDestination, secretContext } from '../../src/delivery/notifications/destination.ts';
import { destinationStore } from '../../src/delivery/notifications/destination-store.ts';
import type { Secrets } from '../../src/platform/secrets.ts';
import type { Store } from '../../src/platform/store.ts';
import { changeScan } from '../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { scanStore } from '../../src/scan/scan-store.ts';
import type { Received } from './alert-doubles.ts';
import { boundCampaign } from './bound-campaign.ts';
import { checkCrawled, LOUD } from './checked-scans.ts';
import { captureOf, type RunningFarm } from './running-farm.ts';

const AUTOSOUND = { rule_type: 'tag', tag_slug: 'autosound' } as const;
const BACK_BUTTON = { rule_type: 'tag', tag_slug: 'back_button' } as const;
/** A message shows all alerts of so many finishes. */
const FINISHES_PER_CAMPAIGN = 10;
export const ALERTS_PER_FINISH = 2;

/** A scan that was judged and violates the set of its campaign, and the outbox entry of its alert. */
export async function judgedScan(farm: RunningFarm, organization_id: string) {
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

/**
 * Finishes scans like `judged`, each with two alerts, as another process does it. `expected` has what is to follow: by
 * the id of the alert, how `toldIn` names it.
 */
export function alertedFinishes({ scan: template, entry }: Awaited<ReturnType<typeof judgedScan>>) {
  const { organization_id } = template;
  const expected = new Map<string, string>();
  let campaign: Awaited<ReturnType<typeof boundCampaign>>;
  let count = 0;
  return {
    expected,
    get count(): number {
      return count;
    },

    async finish(store: Store): Promise<void> {
      if (count++ % FINISHES_PER_CAMPAIGN === 0)
        campaign = await boundCampaign(store, organization_id, [AUTOSOUND, BACK_BUTTON]);
      const { set, campaignId } = campaign;
      const _id = newId();
      const {
        outbox_at: _,
        outbox_due_at: __,
        outbox_of: ___,
        ...rest
      } = { ...template, _id, report_token: _id, outbox: [] };
      const scan: ScanRecord = { ...rest, campaign_id: campaignId, status: 'checking' };
      await store.collection<ScanRecord>('scans').insertOne(scan);
      const violations = set.entries.map(({ id: entry_id }, at) => ({
        ...{ ...entry.violations[0]!, entry_id, tag_display_name: `Entry ${at}` },
      }));
      for (const [at, { entry_id }] of violations.entries())
        expected.set(alertIdOf(_id, entry_id), `${_id} Entry ${at}`);
      const about = { ...entry.scan, campaign_id: campaignId, policy_set_id: set._id, report_token: _id };
      const alerts = { ...entry, id: `alerts:${_id}`, at: new Date(), scan: about, violations };
      const judged = { tags: template.tags, classification: template.classification!, extractedLabels: {} };
      const event = { ...judged, network: '', networkHost: '', complete: true, error: '', alerts };
      assert.ok(await changeScan(scanStore(store), scan, { type: 'finish', ...event }, new Date()));
    },

    /** That each alert is stored once. */
    async assertRaisedOnce(store: Store): Promise<void> {
      const stored = await store.collection<AlertRecord>('alerts').find({ organization_id }).toArray();
      assert.deepEqual(new Set(stored.map(({ _id }) => _id)), new Set(expected.keys()));
      assert.equal(stored.length, ALERTS_PER_FINISH * count);
    },

    /** Asserts that each alert is in a message; returns how many are in several. */
    assertTold(messages: Received[]): number {
      const told = messages.flatMap(toldIn);
      const distinct = new Set(told);
      assert.deepEqual(
        [...expected.values()].filter((one) => !distinct.has(one)),
        [],
      );
      assert.equal(distinct.size, ALERTS_PER_FINISH * count);
      return told.length - distinct.size;
    },
  };
}

/** The alerts that a message to Slack shows. */
const toldIn = ({ body }: Received): string[] =>
  body.blocks.slice(1).map((block: { text: { text: string } }) => {
    const [, name] = /\*(.*?) \(/.exec(block.text.text.replaceAll('\u200b', ''))!;
    const [, token] = /\/r\/([^|]+)\|/.exec(block.text.text)!;
    return `${token} ${name}`;
  });

/** Stores a destination in Slack that gets every alert that is raised in the organization. */
export async function slackDestination(
  store: Store,
  secrets: Secrets,
  organization_id: string,
  url: string,
): Promise<void> {
  const ids = { _id: newId(), organization_id, channel: 'slack' as const };
  const settings = {
    ...{ name: 'Ops', version: 'public' as const, is_default_target: true, included_label_keys: [] },
    ...{ included_statuses: ['open' as const], route_label_key: null, route_label_values: [] },
  };
  const secret = secrets.seal(url, secretContext(ids._id));
  const connection = { secret, telegram_chat_id: null, email_address: null };
  await destinationStore(store).insertWithin(newDestination(ids, settings, connection, new Date()));
}
