import {
  DISCOVERED_ADS_MAX,
  IGNORE_FIRST_N_DOMAINS_MAX,
  LABELS_MAX,
  REPEAT_COUNT_MAX,
  RETRY_ATTEMPTS_MAX,
  TARGET_LENGTH_MAX,
} from '@adsweep/shared/limits.ts';
import { type Static, type TProperties, Type } from 'typebox';
import { orNull } from '../../../http/route.ts';

/** Maximum length of a page URL. Click trackers have long ones, but none that is longer than this. */
const URL_LENGTH_MAX = 32_768;

/** Maximum number of countries in one request, which is more than there are. */
const COUNTRIES_MAX = 250;

const strict = { additionalProperties: false };

/** Maximum length of the name of a country, device, region, city or ISP that is looked up and repeated in an error. */
const NAME_LENGTH_MAX = 200;
const name = (description?: string) =>
  Type.String({ maxLength: NAME_LENGTH_MAX, ...(description ? { description } : {}) });

const ProxyInSchema = Type.Object(
  {
    proxy_type: Type.Optional(name('`residential` (default) or `mobile`.')),
    region: Type.Optional(name()),
    city: Type.Optional(name('Must belong to the region, or no exit will be found.')),
    isp: Type.Optional(name()),
  },
  { ...strict, title: 'ProxyIn', description: 'Values of `GET /proxy/targeting`, in any letter case; empty: any.' },
);

/**
 * The fields of a request (spec 2.1), including `country`. Rules that a schema cannot express are in checks/.
 */
const requestFields = <Country extends TProperties>(country: Country) => ({
  url: Type.Optional(orNull(Type.String({ maxLength: URL_LENGTH_MAX, description: 'An http(s) page.' }))),
  ad_tag: Type.Optional(
    orNull(Type.String({ maxLength: TARGET_LENGTH_MAX, description: 'An HTML snippet or an http(s) URL.' })),
  ),
  vast_tag: Type.Optional(
    orNull(Type.String({ maxLength: TARGET_LENGTH_MAX, description: 'An http(s) URL or a VAST document.' })),
  ),
  ...country,
  emulator_id: name('See `GET /emulators`.'),
  proxy: Type.Optional(ProxyInSchema),
  referrer: Type.Optional(
    orNull(Type.String({ maxLength: URL_LENGTH_MAX, description: 'The publisher page the check is made from.' })),
  ),
  ignore_first_n_domains: Type.Optional(Type.Integer({ minimum: 0, maximum: IGNORE_FIRST_N_DOMAINS_MAX, default: 0 })),
  labels: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      maxProperties: LABELS_MAX,
      description: 'Returned on finished scans.',
    }),
  ),
  campaign_id: Type.Optional(orNull(Type.String())),
  run_id: Type.Optional(orNull(Type.String())),
  ad_discovery: Type.Optional(Type.Boolean({ default: false })),
  max_discovered_ads: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: DISCOVERED_ADS_MAX }))),
  ad_formats: Type.Optional(
    orNull(
      Type.Array(Type.Enum(['banner', 'video', 'pop']), {
        minItems: 1,
        maxItems: 10,
        description: 'Without duplicates; null: all.',
      }),
    ),
  ),
  repeat_count: Type.Optional(Type.Integer({ minimum: 1, maximum: REPEAT_COUNT_MAX, default: 1 })),
  repeat_mode: Type.Optional(Type.Enum(['isolated', 'shared'], { default: 'isolated' })),
  retry_max_attempts: Type.Optional(Type.Integer({ minimum: 0, maximum: RETRY_ATTEMPTS_MAX, default: 0 })),
});

const COUNTRY = 'ISO 3166-1 alpha-2, any letter case; see `GET /geos`.';

/** Body of `POST /scans`. */
export const ScanInSchema = Type.Object(requestFields({ country_code: name(COUNTRY) }), {
  ...strict,
  title: 'ScanIn',
  examples: [{ url: 'https://example.com/', country_code: 'US', emulator_id: 'android_phone_pixel_8' }],
});
export type ScanIn = Static<typeof ScanInSchema>;

const CountryCodes = Type.Array(name(), {
  minItems: 1,
  maxItems: COUNTRIES_MAX,
  description: `Without duplicates. ${COUNTRY}`,
});

/** Body of `POST /scans/bulk`: as `POST /scans`, in several countries. */
export const BulkScanInSchema = Type.Object(requestFields({ country_codes: CountryCodes }), {
  ...strict,
  title: 'BulkScanIn',
  examples: [{ url: 'https://example.com/', country_codes: ['US', 'PT'], emulator_id: 'android_phone_pixel_8' }],
});
export type BulkScanIn = Static<typeof BulkScanInSchema>;

/** The fields of a request without its country. */
export type ScanSettings = Omit<ScanIn, 'country_code'>;
