import { newId } from '@adsweep/shared/ids.ts';
import { type AlertRecord, newAlerts } from '../../src/delivery/alerts/alert.ts';
import type { AlertedScan } from '../../src/platform/outbox/outbox-entry.ts';
import { type Json, ORGANIZATIONS, type RunningApi } from './running-api.ts';

export const ALERTS = '/api/v1/alerts';

/** An alert that is not stored. */
export function alertOf(
  changes: Partial<AlertRecord> = {},
  organizationId = ORGANIZATIONS.ours,
  urls: Partial<AlertedScan> = {},
): AlertRecord {
  const { tag_slug = 'autosound', scan_id = newId(), created_at: at = new Date() } = changes;
  const { campaign_id = 'campaign-1', policy_set_id = 'set-1', country_code = 'US', entry_id = newId() } = changes;
  const about = { policy_set_id, policy_set_name: 'Set', campaign_id, country_code, emulator_id: 'windows_chrome' };
  const scan = {
    ...about,
    labels: {},
    scan_url: 'https://shop.example/',
    offer_url: '',
    report_token: newId(),
    ...urls,
  };
  const rule_type = tag_slug.startsWith('brand:') ? ('brand' as const) : ('tag' as const);
  const names = { tag_slug, tag_display_name: tag_slug, severity: null };
  const violation = { entry_id, rule_type, ...names, matched_value: rule_type === 'brand' ? 'Acme' : null };
  const origin = { organizationId, scanId: scan_id, campaignId: campaign_id };
  const [alert] = newAlerts({ id: 'a', kind: 'alerts', at, scan, violations: [violation] }, origin);
  return { ...alert!, ...changes };
}

/** Calls about alerts of an API, which runs when they are made. */
export const alertCalls = (api: () => RunningApi) => ({
  /** Stores an alert. */
  add: async (
    changes: Partial<AlertRecord> = {},
    organizationId?: string,
    urls?: Partial<AlertedScan>,
  ): Promise<AlertRecord> => {
    const alert = alertOf(changes, organizationId, urls);
    await api().domains.delivery.stores.alerts.add([alert]);
    return alert;
  },
  patch: (id: string, status: string, key?: string) =>
    api().call('PATCH', `${ALERTS}/${id}/status`, { body: { status }, ...(key && { key }) }),
  read: async (id: string): Promise<Json> => (await api().get(`${ALERTS}/${id}`)).body,
  totalOf: async (query: string, key?: string): Promise<number> =>
    (await api().get(`${ALERTS}?${query}`, key ? { key } : {})).body.total,
});
