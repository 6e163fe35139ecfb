import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { entryOf } from '../../../src/analysis/policies/policy-set.ts';
import { ownerOf } from '../../../src/analysis/rules/rule-store.ts';
import type { AlertRecord } from '../../../src/delivery/alerts/alert.ts';
import { alertStore } from '../../../src/delivery/alerts/alert-store.ts';
import { relay } from '../../../src/delivery/outbox/relay.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { boundCampaign } from '../../support/bound-campaign.ts';
import { checkCrawled, followUpsOf, LOUD, ownTag, slugsOf } from '../../support/checked-scans.ts';
import { captureOf, type RunningFarm, runningFarm } from '../../support/running-farm.ts';

const AUTOSOUND = { rule_type: 'tag', tag_slug: 'autosound' } as const;
const BACK_BUTTON = { rule_type: 'tag', tag_slug: 'back_button' } as const;

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
after(() => farm.stop());

const alertsOf = (scanId: string): Promise<AlertRecord[]> =>
  farm.store.collection<AlertRecord>('alerts').find({ scan_id: scanId }).toArray();

/** A scan of this campaign that was crawled on a page with sound. */
async function crawled(changes: Partial<ScanRecord>, notes: Capture['notes'] = []): Promise<ScanRecord> {
  const scan = await farm.submit(changes);
  const lease = await farm.acquireOne();
  await farm.node.complete(lease, captureOf(['https://shop.example/'], { observations: [LOUD], notes }));
  return farm.read(scan._id);
}

/** Relays until nothing is due. */
async function relayAll(): Promise<void> {
  while ((await relay(farm.farm.dependencies, new Date())).entries > 0);
}

describe('alerts are raised', () => {
  test('§2.8.10 the alerts of a scan are written with its finish, and the relay creates one for each entry', async () => {
    const organization_id = `organization-${newId()}`;
    const { set, campaignId } = await boundCampaign(farm.store, organization_id, [AUTOSOUND, BACK_BUTTON]);
    const labels = { team: 'red' };
    const { _id } = await crawled({ organization_id, campaign_id: campaignId, labels });
    await checkCrawled(farm);
    assert.ok(followUpsOf(await farm.read(_id)).includes('alerts'));
    await relayAll();
    const [alert, ...others] = await alertsOf(_id);
    assert.equal(others.length, 0);
    const { policy_set_id, policy_set_name, entry_id, tag_slug, tag_display_name, severity, status } = alert!;
    assert.deepEqual(
      [policy_set_id, policy_set_name, entry_id, tag_slug, severity, status],
      [set._id, 'Brand safety', set.entries[0]!.id, 'autosound', 'medium', 'open'],
    );
    assert.ok(tag_display_name.length > 0);
    assert.deepEqual(
      [alert!.campaign_id, alert!.labels, alert!.closed_by, alert!.organization_id],
      [campaignId, labels, null, organization_id],
    );
    assert.equal(await alertStore(farm.store).find('another organization', alert!._id), null);
  });

  test('§2.8.10 the set counts that a campaign is bound to when its scan finishes, completed or partial', async () => {
    const organization_id = `organization-${newId()}`;
    const { campaignId } = await boundCampaign(farm.store, organization_id, [BACK_BUTTON]);
    const { set } = await boundCampaign(farm.store, organization_id, [AUTOSOUND]);
    const notes = [{ kind: 'picture' as const, collector: null, landing: 0, count: 0 }];
    const [whole, part] = [
      await crawled({ organization_id, campaign_id: campaignId }),
      await crawled({ organization_id, campaign_id: campaignId }, notes),
    ];
    const campaigns = farm.store.collection('campaigns');
    await campaigns.updateOne({ _id: campaignId as never }, { $set: { policy_set_id: set._id } });
    await checkCrawled(farm);
    await relayAll();
    const found = [];
    for (const { _id } of [whole, part]) {
      const [alert] = await alertsOf(_id);
      found.push([(await farm.read(_id)).status, alert?.policy_set_id, alert?.tag_slug]);
    }
    assert.deepEqual(found, [
      ['completed', set._id, 'autosound'],
      ['partial', set._id, 'autosound'],
    ]);
  });

  test('§2.8.11 a recheck adds the alerts that are new, and leaves those that exist as they are', async () => {
    const organization_id = `organization-${newId()}`;
    const { set, campaignId } = await boundCampaign(farm.store, organization_id, [AUTOSOUND]);
    const { _id } = await crawled({ organization_id, campaign_id: campaignId });
    await checkCrawled(farm);
    await relayAll();
    const alerts = farm.store.collection<AlertRecord>('alerts');
    await alerts.updateOne({ scan_id: _id }, { $set: { status: 'dismissed' } });
    const brand = (await farm.read(_id)).classification?.brand ?? 'none';
    const added = entryOf(set._id, { rule_type: 'brand', brand }, []);
    await farm.store
      .collection('policy_sets')
      .updateOne({ _id: set._id as never }, { $set: { entries: [added, ...set.entries] } });
    assert.ok(await changeScan(farm.scans, await farm.read(_id), { type: 'recheck', id: newId() }, new Date()));
    await checkCrawled(farm);
    await relayAll();
    const now = (await alertsOf(_id)).map(({ tag_slug, status }) => `${tag_slug} ${status}`).sort();
    assert.deepEqual(now, ['autosound dismissed', `brand:${brand} open`]);
  });

  test('§1.3 §2.8.12 scans without a campaign, of a campaign without a set, and failed and cancelled ones raise no alert', async () => {
    const organization_id = `organization-${newId()}`;
    const { campaignId } = await boundCampaign(farm.store, organization_id, [AUTOSOUND]);
    const alone = await crawled({ organization_id });
    await farm.store.collection('campaigns').updateOne({ _id: campaignId as never }, { $set: { policy_set_id: null } });
    const unbound = await crawled({ organization_id, campaign_id: campaignId });
    await checkCrawled(farm);
    for (const scan of [alone, unbound]) {
      const finished = await farm.read(scan._id);
      assert.deepEqual(slugsOf(finished), ['autosound']);
      assert.ok(!followUpsOf(finished).includes('alerts'));
    }
    const bound = await boundCampaign(farm.store, organization_id, [AUTOSOUND]);
    const failed = await farm.submit({ organization_id, campaign_id: bound.campaignId });
    const capture = captureOf(['https://shop.example/'], { observations: [LOUD] });
    await farm.node.fail(await farm.acquireOne(), { code: 'navigation: BLOCKED_URL', cause: '', capture });
    const cancelled = await farm.submit({ organization_id, campaign_id: bound.campaignId });
    await changeScan(farm.scans, cancelled, { type: 'cancel' }, new Date());
    await farm.farm.unqueue(cancelled);
    await checkCrawled(farm);
    await relayAll();
    const ends = await Promise.all([failed, cancelled].map(async ({ _id }) => (await farm.read(_id)).status));
    assert.deepEqual(ends, ['failed', 'cancelled']);
    assert.deepEqual(await Promise.all([failed, cancelled].map(({ _id }) => alertsOf(_id))), [[], []]);
  });

  test('§2.5.19 a hidden tag of the platform raises alerts, and no event of the scan names it', async () => {
    const organization_id = `organization-${newId()}`;
    const hidden = { ...ownTag('', 'secret_list'), organization_id: null, visibility: 'hidden' as const };
    await farm.tags.register([hidden], new Date());
    await farm.rules.insert({
      ...{ _id: newId(), owner: ownerOf(null), organization_id: null, name: 'Secret', tag_slug: hidden.slug },
      ...{
        rule_type: 'combo',
        config: { any_of: ['autosound'] },
        target: 'page',
        is_active: true,
        created_at: new Date(),
      },
    });
    const { campaignId } = await boundCampaign(farm.store, organization_id, [
      { rule_type: 'tag', tag_slug: hidden.slug },
    ]);
    const { _id } = await crawled({ organization_id, campaign_id: campaignId });
    await checkCrawled(farm);
    const finished = await farm.read(_id);
    assert.deepEqual(slugsOf(finished), ['autosound', hidden.slug]);
    const events = finished.outbox.filter(({ kind }) => kind === 'event');
    assert.ok(events.some((entry) => entry.kind === 'event' && entry.event === 'scanning.tags.detected'));
    assert.ok(!JSON.stringify(events).includes(hidden.slug));
    await relayAll();
    assert.deepEqual(
      (await alertsOf(_id)).map(({ tag_slug }) => tag_slug),
      [hidden.slug],
    );
  });
});
