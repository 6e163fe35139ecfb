import {
  DISCOVERED_ADS_MAX,
  IGNORE_FIRST_N_DOMAINS_MAX,
  LABELS_MAX,
  REPEAT_COUNT_MAX,
  RETRY_ATTEMPTS_MAX,
  TARGET_LENGTH_MAX,
} from '@adsweep/shared/limits.ts';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { type Static, type TSchema, Type } from 'typebox';
import { orNull } from '../../http/route.ts';
import { scheduleFields } from '../schedules/schedule-in.ts';
import { AlertRoutingInSchema } from './alert-routing.ts';
import { CAMPAIGN_TYPES, EMULATOR_MODES } from './campaign.ts';

/** Maximum length of a URL. */
const URL_LENGTH_MAX = 32_768;
/** Maximum length of the name of a country, device, region, city or ISP. */
const WORD_LENGTH_MAX = 200;
const COUNTRIES_MAX = 250;

const CampaignName = Type.String({ maxLength: 200, pattern: '\\S' });
const EMULATOR_CATEGORIES = [...new Set(EMULATORS.map(({ category }) => category))];

const word = (description?: string) =>
  Type.String({ maxLength: WORD_LENGTH_MAX, ...(description ? { description } : {}) });
const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const clearable = <S extends TSchema>(schema: S) => Type.Optional(orNull(schema));

/** The fields that can be changed. A field that cannot be null is refused as null, also in a change. */
const changeable = {
  url: clearable(Type.String({ maxLength: URL_LENGTH_MAX, description: 'Of the types `url` and `ad_discovery`.' })),
  ad_tag: clearable(Type.String({ maxLength: TARGET_LENGTH_MAX, description: 'Of the type `ad_tag`.' })),
  vast_tag: clearable(Type.String({ maxLength: TARGET_LENGTH_MAX, description: 'Of the type `vast`.' })),
  referrer: clearable(
    Type.String({ maxLength: URL_LENGTH_MAX, description: 'The publisher page the checks are made from.' }),
  ),
  ignore_first_n_domains: optional(Type.Integer({ minimum: 0, maximum: IGNORE_FIRST_N_DOMAINS_MAX })),
  max_discovered_ads: clearable(
    Type.Integer({ minimum: 1, maximum: DISCOVERED_ADS_MAX, description: 'Of the type `ad_discovery`; null: 12.' }),
  ),
  ad_formats: clearable(
    Type.Array(Type.Enum(['banner', 'video', 'pop']), {
      minItems: 1,
      maxItems: 10,
      description: 'Of the type `ad_discovery`; without duplicates; null: all.',
    }),
  ),
  emulator_categories: optional(
    Type.Array(Type.Enum(EMULATOR_CATEGORIES), {
      maxItems: 50,
      description:
        'Kinds of devices; see `emulator_mode`. Default: `android_phone`. Empty: only those of `emulator_specific_ids`.',
    }),
  ),
  emulator_specific_ids: optional(
    Type.Array(word(), {
      maxItems: EMULATORS.length,
      description: 'Devices of every run, besides those of the categories.',
    }),
  ),
  emulator_mode: optional(
    Type.Enum([...EMULATOR_MODES], {
      description: '`random`: a run draws one device of each category. `all`: it takes all of them.',
    }),
  ),
  proxy_type: optional(word('`residential` (default) or `mobile`.')),
  proxy_region: optional(word('Only with one country.')),
  proxy_city: optional(word('Only with one country.')),
  proxy_isp: optional(word('Only with one country.')),
  repeat_count: optional(Type.Integer({ minimum: 1, maximum: REPEAT_COUNT_MAX })),
  repeat_mode: optional(Type.Enum(['isolated', 'shared'])),
  retry_max_attempts: optional(Type.Integer({ minimum: 0, maximum: RETRY_ATTEMPTS_MAX })),
  labels: optional(Type.Record(Type.String(), Type.String(), { maxProperties: LABELS_MAX })),
  ...scheduleFields,
  policy_set_id: clearable(Type.String({ description: 'null: none.' })),
  notifications: clearable(AlertRoutingInSchema),
};

const CountryCodes = Type.Array(word(), {
  minItems: 1,
  maxItems: COUNTRIES_MAX,
  description: 'ISO 3166-1 alpha-2, any letter case.',
});

/** Body of `POST /campaigns`. */
export const CampaignInSchema = Type.Object(
  {
    name: CampaignName,
    campaign_type: optional(Type.Enum([...CAMPAIGN_TYPES], { default: 'url' })),
    country_codes: CountryCodes,
    group_id: clearable(Type.String({ description: 'By default the default group.' })),
    ...changeable,
  },
  {
    additionalProperties: false,
    title: 'CampaignIn',
    examples: [{ name: 'Spring offer', url: 'https://example.com/', country_codes: ['US', 'PT'] }],
  },
);
export type CampaignIn = Static<typeof CampaignInSchema>;

/** Body of `PATCH /campaigns/{campaign_id}`; omitted fields keep their values. */
export const CampaignPatchSchema = Type.Object(
  {
    name: optional(CampaignName),
    country_codes: optional(CountryCodes),
    group_id: optional(Type.String({ description: 'Moves the campaign to this group.' })),
    ...changeable,
  },
  { additionalProperties: false, title: 'CampaignPatch' },
);
export type CampaignPatch = Static<typeof CampaignPatchSchema>;
