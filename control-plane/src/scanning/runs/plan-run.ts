import { createHash } from 'node:crypto';
import { EMULATORS, findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { type CampaignRecord, TARGET_FIELD } from '../campaigns/campaign.ts';
import type { ScanSettings } from '../scans/request/scan-in.ts';
import type { RunPlan } from './run.ts';

type Selection = Pick<CampaignRecord, 'emulator_categories' | 'emulator_specific_ids' | 'emulator_mode'>;

/** The scans of a run of a campaign. The same run of the same campaign always has the same plan. */
export function planRun(campaign: CampaignRecord, runId: string): RunPlan {
  const { country_codes: countries, repeat_count: repeats } = campaign;
  const emulators = devicesOf(campaign, runId);
  return { countries, emulators, repeats, scans: countries.length * emulators.length * repeats };
}

/**
 * The devices of a run: of each category one that the run draws, or all of them; and the campaign's own ones. Each
 * once.
 */
function devicesOf(selection: Selection, runId: string): string[] {
  const { emulator_categories, emulator_specific_ids, emulator_mode } = selection;
  const ofCategories = emulator_categories.flatMap((category) => {
    const devices = EMULATORS.filter((device) => device.category === category).map(({ id }) => id);
    return emulator_mode === 'all' ? devices : devices.slice(drawn(`${runId}/${category}`, devices.length)).slice(0, 1);
  });
  return [...new Set([...ofCategories, ...emulator_specific_ids.filter((id) => findEmulator(id))])];
}

/** A number below `count` that depends on `name` alone, and is as good as drawn. */
const drawn = (name: string, count: number): number =>
  count === 0 ? 0 : createHash('sha256').update(name).digest().readUInt32BE(0) % count;

/**
 * What every scan of a run has, as a request for it would say it (spec 4.2 rule 10). The campaign has its whole target.
 */
export function settingsOfRun(campaign: CampaignRecord, runId: string, { emulators }: RunPlan): ScanSettings {
  const { campaign_type, referrer, ignore_first_n_domains, labels, repeat_count, repeat_mode } = campaign;
  const { proxy_type, proxy_region, proxy_city, proxy_isp, max_discovered_ads, ad_formats } = campaign;
  const field = TARGET_FIELD[campaign_type];
  return {
    [field]: campaign[field],
    emulator_id: emulators[0] ?? '',
    referrer,
    ignore_first_n_domains,
    labels,
    proxy: { proxy_type, region: proxy_region, city: proxy_city, isp: proxy_isp },
    campaign_id: campaign._id,
    run_id: runId,
    repeat_count,
    repeat_mode,
    ...(campaign_type === 'ad_discovery' && { ad_discovery: true, max_discovered_ads, ad_formats }),
    retry_max_attempts: campaign.retry_max_attempts,
  };
}
