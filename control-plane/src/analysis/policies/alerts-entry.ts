import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import type { Tags } from '../../reference/tags/tag-definitions.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { type Policy, violationsOf } from './policy.ts';

/** What the scans of a campaign of this organization are held against; null: nothing. */
export type FindPolicy = (organizationId: string, campaignId: string) => Promise<Policy | null>;

/**
 * The outbox entry with the alerts of a scan that is about to finish; null: it violates nothing, or has no campaign.
 * Pure.
 */
export function alertsEntry(policy: Policy, scan: ScanRecord, tags: Tags, now: Date): OutboxEntry<'alerts'> | null {
  const { _id, campaign_id, country_code, emulator_id, labels, target, capture, report_token, checks_attempts } = scan;
  const tag_slugs = new Set(scan.tags.map(({ tag_slug }) => tag_slug));
  const { classification } = scan;
  const violations = violationsOf(policy.entries, { country_code, classification, tag_slugs }, tags);
  if (violations.length === 0 || campaign_id === null) return null;
  const about = {
    policy_set_id: policy.id,
    policy_set_name: policy.name,
    campaign_id,
    country_code,
    emulator_id,
    labels,
    scan_url: target.kind === 'url' ? target.value : '',
    offer_url: capture?.offer_url ?? '',
    report_token,
  };
  const id = `alerts:${_id}:${scan.recheck?.ordinal ?? 0}:${checks_attempts ?? 0}`;
  return { id, kind: 'alerts', at: now, scan: about, violations };
}
