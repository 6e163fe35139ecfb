import { Type } from 'typebox';
import { moment, orNull } from '../../http/route.ts';
import { pickFields } from '../../platform/pick-fields.ts';
import { NO_SCHEDULE, SCHEDULE_FIELDS, SCHEDULE_TYPES } from '../schedules/schedule.ts';
import { CAMPAIGN_TYPES, type CampaignRecord, EMULATOR_MODES } from './campaign.ts';

const Tag = orNull(Type.String({ description: 'In lists null if it has more than 4,096 characters.' }));

export const CampaignSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    campaign_type: Type.Enum([...CAMPAIGN_TYPES]),
    url: Type.String({ description: "'' for the types `ad_tag` and `vast`." }),
    ad_tag: Tag,
    vast_tag: Tag,
    referrer: orNull(Type.String()),
    ignore_first_n_domains: Type.Integer(),
    max_discovered_ads: orNull(Type.Integer()),
    ad_formats: orNull(Type.Array(Type.String())),
    country_codes: Type.Array(Type.String()),
    group_id: Type.String(),
    emulator_selection: Type.Object({
      categories: Type.Array(Type.String()),
      specific_ids: Type.Array(Type.String()),
      mode: Type.Enum([...EMULATOR_MODES]),
    }),
    proxy_type: Type.String(),
    proxy_region: Type.String(),
    proxy_city: Type.String(),
    proxy_isp: Type.String(),
    repeat_count: Type.Integer(),
    repeat_mode: Type.Enum(['isolated', 'shared']),
    retry_max_attempts: Type.Integer(),
    labels: Type.Record(Type.String(), Type.String()),
    policy_set_id: orNull(Type.String()),
    schedule_type: orNull(Type.Enum([...SCHEDULE_TYPES])),
    schedule_weekly: orNull(Type.Record(Type.String(), Type.Array(Type.Integer()))),
    schedule_interval_seconds: orNull(Type.Integer()),
    schedule_timezone: orNull(Type.String()),
    schedule_enabled: Type.Boolean(),
    next_run_at: orNull(moment('When it runs by itself next, unless its group is paused; null: never.')),
    last_schedule_problem: orNull(
      Type.Object(
        { code: Type.String(), detail: Type.String(), at: moment() },
        { description: 'Why its schedule did not start a run the last time; null: it did.' },
      ),
    ),
    is_archived: Type.Boolean(),
    created_at: moment(),
    last_run_at: orNull(moment('Creation of its newest run; null: it never ran.')),
  },
  { title: 'Campaign' },
);

/** A row of the list from which a campaign is picked. */
export const CampaignPickSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    group_id: Type.String(),
    is_archived: Type.Boolean(),
    policy_set_id: orNull(Type.String()),
  },
  { title: 'CampaignPick' },
);

/** A campaign as the API returns it. */
export function presentCampaign(campaign: CampaignRecord) {
  const { url, ad_tag, vast_tag, last_run_at } = campaign;
  return {
    id: campaign._id,
    ...pickFields(campaign, 'name', 'campaign_type'),
    url: url ?? '',
    ad_tag: ad_tag || null,
    vast_tag: vast_tag || null,
    ...pickFields(campaign, 'referrer', 'ignore_first_n_domains', 'max_discovered_ads', 'ad_formats'),
    ...pickFields(campaign, 'country_codes', 'group_id'),
    emulator_selection: {
      categories: campaign.emulator_categories,
      specific_ids: campaign.emulator_specific_ids,
      mode: campaign.emulator_mode,
    },
    ...pickFields(campaign, 'proxy_type', 'proxy_region', 'proxy_city', 'proxy_isp', 'repeat_count', 'repeat_mode'),
    ...pickFields(campaign, 'retry_max_attempts', 'labels', 'policy_set_id', 'is_archived'),
    created_at: campaign.created_at.toISOString(),
    ...presentSchedule(campaign),
    last_run_at: last_run_at?.toISOString() ?? null,
  };
}

/** Campaigns of earlier versions have no schedule. */
function presentSchedule({ is_archived, next_run_at, last_schedule_problem: problem, ...campaign }: CampaignRecord) {
  return {
    ...NO_SCHEDULE,
    ...(campaign.schedule_type !== undefined && pickFields(campaign, ...SCHEDULE_FIELDS)),
    next_run_at: is_archived ? null : (next_run_at?.toISOString() ?? null),
    last_schedule_problem: problem ? { ...problem, at: problem.at.toISOString() } : null,
  };
}

export const presentPick = ({ _id, name, group_id, is_archived, policy_set_id }: CampaignRecord) => ({
  id: _id,
  name,
  group_id,
  is_archived,
  policy_set_id,
});
