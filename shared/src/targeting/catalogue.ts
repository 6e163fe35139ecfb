import { type Static, Type } from 'typebox';

export const PROXY_TYPES = ['residential', 'mobile'] as const;
export type ProxyType = (typeof PROXY_TYPES)[number];
export const ProxyTypeSchema = Type.Union([Type.Literal('residential'), Type.Literal('mobile')]);

/** Where traffic should leave (spec 2.2); an empty string accepts any. */
export const TargetingSchema = Type.Object(
  {
    country_code: Type.String({ pattern: '^[A-Z]{2}$' }),
    proxy_type: ProxyTypeSchema,
    region: Type.String(),
    city: Type.String(),
    isp: Type.String(),
  },
  { additionalProperties: false },
);
export type Targeting = Static<typeof TargetingSchema>;

/**
 * The targeting that one country and proxy type offers; `regions`, `cities` and `isps` with the largest pools first
 * (spec 2.3).
 */
export const CataloguePoolSchema = Type.Object({
  country_code: Type.String(),
  proxy_type: ProxyTypeSchema,
  regions: Type.Array(Type.String()),
  cities: Type.Array(Type.String()),
  isps: Type.Array(Type.String()),
  /** Cities of each region, same order. */
  cities_by_region: Type.Record(Type.String(), Type.Array(Type.String())),
  /** When the lists of the country were last verified against a provider, ISO 8601. */
  refreshed_at: Type.String(),
});
export type CataloguePool = Static<typeof CataloguePoolSchema>;

/**
 * Response of the proxy-router's `GET /catalogue`. `refreshed_at`, ISO 8601: when it was last verified which countries
 * have no provider; null: a provider's catalogue has never been read.
 */
export const CatalogueSchema = Type.Object({
  refreshed_at: Type.Union([Type.String(), Type.Null()]),
  pools: Type.Array(CataloguePoolSchema),
});
export type Catalogue = Static<typeof CatalogueSchema>;

/**
 * Response of the proxy-router's `GET /catalogue/times`: the times of its catalogue, by country, without the lists,
 * which have megabytes and seldom change. `version` differs when the lists do, and is the same at every replica that
 * has the same lists.
 */
export const CatalogueTimesSchema = Type.Object({
  version: Type.String(),
  refreshed_at: Type.Union([Type.String(), Type.Null()]),
  countries: Type.Record(Type.String(), Type.String()),
});
export type CatalogueTimes = Static<typeof CatalogueTimesSchema>;
