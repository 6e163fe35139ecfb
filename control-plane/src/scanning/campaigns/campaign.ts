import type { AdKind } from '@adsweep/shared/capture/ad-block.ts';
import type { EmulatorCategory } from '@adsweep/shared/scan/devices/device.ts';
import type { ProxyType } from '@adsweep/shared/targeting/catalogue.ts';
import { NO_SCHEDULE, replanned, type ScheduleSettings, type ScheduleState } from '../schedules/schedule.ts';
import type { AlertRouting } from './alert-routing.ts';

/** What a campaign scans; it never changes. */
export const CAMPAIGN_TYPES = ['url', 'ad_tag', 'vast', 'ad_discovery'] as const;
export type CampaignType = (typeof CAMPAIGN_TYPES)[number];

export const EMULATOR_MODES = ['random', 'all'] as const;

/** The field of a type's target. */
export const TARGET_FIELD = {
  url: 'url',
  ad_tag: 'ad_tag',
  vast: 'vast_tag',
  ad_discovery: 'url',
} as const satisfies Record<CampaignType, string>;

/** Scans that one run of a campaign may create. */
export const RUN_SCANS_MAX = 10_000;

/** What a client sets, with the names of the API. */
export type CampaignSettings = ScheduleSettings & {
  name: string;
  campaign_type: CampaignType;
  /** The target: the field of the campaign's type; the others are null. */
  url: string | null;
  ad_tag: string | null;
  vast_tag: string | null;
  /** Normalised; null: none. */
  referrer: string | null;
  ignore_first_n_domains: number;
  max_discovered_ads: number | null;
  ad_formats: AdKind[] | null;
  /** In upper case, each once. */
  country_codes: string[];
  group_id: string;
  emulator_categories: EmulatorCategory[];
  emulator_specific_ids: string[];
  emulator_mode: (typeof EMULATOR_MODES)[number];
  proxy_type: ProxyType;
  proxy_region: string;
  proxy_city: string;
  proxy_isp: string;
  repeat_count: number;
  repeat_mode: 'isolated' | 'shared';
  retry_max_attempts: number;
  labels: Record<string, string>;
  policy_set_id: string | null;
};

/** A campaign: a target and a context that are scanned again and again. */
export type CampaignRecord = CampaignSettings &
  ScheduleState & {
    _id: string;
    organization_id: string;
    is_archived: boolean;
    /** It was archived by the archiving of its group, whose restoring brings it back. */
    archived_with_group: boolean;
    /** Which destinations get its alerts; absent: those that campaigns inherit. */
    notifications?: AlertRouting;
    /** The creation of its newest run. */
    last_run_at: Date | null;
    /** The number of changes by clients. */
    version: number;
    created_at: Date;
    /** The id of its target's text, if that is long and stored separately: the field of the target is then ''. */
    target_text_id?: string;
    /** The size of what a client sets; missing in campaigns of earlier versions. */
    bytes?: number;
  };

const REQUIRED = ['name', 'campaign_type', 'country_codes', 'group_id'] as const;
type RequiredField = (typeof REQUIRED)[number];

const UNSCHEDULED: Readonly<Omit<CampaignSettings, RequiredField | keyof ScheduleSettings>> = {
  url: null,
  ad_tag: null,
  vast_tag: null,
  referrer: null,
  ignore_first_n_domains: 0,
  max_discovered_ads: null,
  ad_formats: null,
  emulator_categories: ['android_phone'],
  emulator_specific_ids: [],
  emulator_mode: 'random',
  proxy_type: 'residential',
  proxy_region: '',
  proxy_city: '',
  proxy_isp: '',
  repeat_count: 1,
  repeat_mode: 'isolated',
  retry_max_attempts: 0,
  labels: {},
  policy_set_id: null,
};

/** What a campaign has that sets only the required fields. */
export const DEFAULTS: Readonly<Omit<CampaignSettings, RequiredField>> = { ...UNSCHEDULED, ...NO_SCHEDULE };

/** The settings without those of the schedule. */
export const UNSCHEDULED_SETTINGS = [...REQUIRED, ...(Object.keys(UNSCHEDULED) as (keyof typeof UNSCHEDULED)[])];

/** A new campaign. */
export function newCampaign(
  settings: CampaignSettings,
  { id, organizationId, now }: { id: string; organizationId: string; now: Date },
): CampaignRecord {
  const { schedule_anchor = null, next_run_at = null } = replanned(NO_SCHEDULE, settings, now) ?? {};
  return {
    ...settings,
    _id: id,
    organization_id: organizationId,
    is_archived: false,
    archived_with_group: false,
    last_run_at: null,
    version: 0,
    created_at: now,
    schedule_anchor,
    ...(next_run_at && { next_run_at }),
    last_scheduled_run_id: null,
    last_schedule_problem: null,
  };
}
