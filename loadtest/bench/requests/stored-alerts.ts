import { type AlertRecord, newAlerts } from '../../../control-plane/src/delivery/alerts/alert.ts';
import { ALERT_STATUSES } from '../../../control-plane/src/platform/outbox/outbox-entry.ts';

/** The days over which alerts are spread, and the first of them. */
const ALERT_DAYS = 365;
const FIRST_ALERT = Date.UTC(2026, 0, 1);

const COUNTRIES = ['US', 'DE', 'FR', 'PT', 'BR', 'JP', 'IN', 'GB', 'ES', 'IT'];
const CAMPAIGNS = 40;
const SETS = 4;
const TAGS = 25;

/** Alert number `number` of `size`, without outbox: campaigns, tags, countries and statuses change independently of each other. */
export function storedAlert(number: number, size: number, organizationId: string): AlertRecord {
  const id = `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const at = new Date(FIRST_ALERT + Math.floor((number * ALERT_DAYS * 86_400_000) / size));
  const campaign = number % CAMPAIGNS;
  const campaign_id = `campaign-${campaign}`;
  const [alert] = newAlerts(
    {
      ...{ id, kind: 'alerts', at },
      scan: {
        ...{ policy_set_id: `set-${campaign % SETS}`, policy_set_name: 'Brand safety', campaign_id },
        ...{ country_code: COUNTRIES[Math.floor(number / CAMPAIGNS) % COUNTRIES.length]!, labels: { team: 'red' } },
        ...{ emulator_id: 'android_phone_pixel_8', scan_url: `https://shop-${number % 1_000}.example/landing` },
        ...{ offer_url: 'https://offer.example/', report_token: id },
      },
      violations: [
        {
          ...{ entry_id: `entry-${number % 7}`, rule_type: 'tag', tag_slug: `tag_${Math.floor(number / 7) % TAGS}` },
          ...{ tag_display_name: 'A tag', severity: 'medium', matched_value: null },
        },
      ],
    },
    { organizationId, scanId: id, campaignId: campaign_id },
  );
  // Six of ten are open, two resolved, one each escalated and dismissed.
  const status = ALERT_STATUSES[[0, 0, 0, 0, 0, 0, 2, 2, 1, 3][Math.floor(number / 3) % 10]!]!;
  const { outbox_at: _, outbox_due_at: __, outbox_of: ___, ...settled } = { ...alert!, status, outbox: [] };
  return settled;
}
