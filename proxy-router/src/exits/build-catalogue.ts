import { createHash } from 'node:crypto';
import type { CataloguePool, CatalogueTimes } from '@adsweep/shared/targeting/catalogue.ts';
import type { Place } from '../providers/exit.ts';

/** Places of one source and when they were last verified; null: not yet. */
export type PlaceSource = { places: readonly Place[]; refreshedAt: Date | null };

/** The pools without their times, which change independently. */
export type TargetingPools = Omit<CataloguePool, 'refreshed_at'>[];

/**
 * The targeting that is available (spec 2.3): one pool for each country and proxy type that has an exit, values ordered
 * by the number of addresses behind them, largest first. Values that differ only in letter case are one; the first
 * spelling is shown.
 */
export function buildPools(sources: readonly PlaceSource[]): TargetingPools {
  const places = sources.flatMap(({ places }) => places);
  const pools = Map.groupBy(places, (place) => `${place.country_code} ${place.proxy_type}`);
  return [...pools.keys()].sort().map((key) => buildPool(pools.get(key)!));
}

/**
 * The JSON of a `Catalogue`. A country's time is that of its most recently verified source. The overall `refreshed_at`
 * is null while a source has not been read yet: until then the absence of a country proves nothing. Once a minute the
 * times change, and seldom the pools, which have megabytes: their texts are kept.
 */
export function catalogueJson(pools: TargetingPools, sources: readonly PlaceSource[]): Buffer {
  const { refreshed_at, countries } = timesOf(sources);
  const texts = pools.map((pool) => `${textOf(pool).slice(0, -1)},"refreshed_at":"${countries[pool.country_code]}"}`);
  return Buffer.from(`{"refreshed_at":${JSON.stringify(refreshed_at)},"pools":[${texts.join()}]}`);
}

/** The times of the same catalogue, and the version of its lists. */
export const catalogueTimes = (pools: TargetingPools, sources: readonly PlaceSource[]): CatalogueTimes => ({
  version: versionOf(pools),
  ...timesOf(sources),
});

const versions = new WeakMap<TargetingPools, string>();

function versionOf(pools: TargetingPools): string {
  const known = versions.get(pools);
  if (known) return known;
  const hash = createHash('sha256');
  for (const pool of pools) hash.update(textOf(pool));
  const version = hash.digest('base64url');
  versions.set(pools, version);
  return version;
}

const poolTexts = new WeakMap<TargetingPools[number], string>();

function textOf(pool: TargetingPools[number]): string {
  const text = poolTexts.get(pool) ?? JSON.stringify(pool);
  poolTexts.set(pool, text);
  return text;
}

function timesOf(sources: readonly PlaceSource[]): Omit<CatalogueTimes, 'version'> {
  const times = new Map<string, Date>();
  for (const { places, refreshedAt } of sources)
    if (refreshedAt) for (const country of countriesIn(places)) keepLatest(times, country, refreshedAt);
  const all = sources.map(({ refreshedAt }) => refreshedAt);
  const latest = all.includes(null) ? null : new Date(Math.max(...all.map(Number)));
  return {
    refreshed_at: latest?.toISOString() ?? null,
    countries: Object.fromEntries([...times].map(([country, time]) => [country, time.toISOString()])),
  };
}

const countriesByPlaces = new WeakMap<readonly Place[], ReadonlySet<string>>();

function countriesIn(places: readonly Place[]): ReadonlySet<string> {
  const countries = countriesByPlaces.get(places) ?? new Set(places.map(({ country_code }) => country_code));
  countriesByPlaces.set(places, countries);
  return countries;
}

function keepLatest(times: Map<string, Date>, key: string, time: Date): void {
  const known = times.get(key);
  if (!known || known < time) times.set(key, time);
}

function buildPool(places: Place[]): TargetingPools[number] {
  const [{ country_code, proxy_type }] = places as [Place];
  const regions = largestFirst(places, 'region');
  const byRegion = Map.groupBy(places, ({ region }) => region?.toLowerCase());
  return {
    country_code,
    proxy_type,
    regions,
    cities: largestFirst(places, 'city'),
    isps: largestFirst(places, 'isp'),
    cities_by_region: Object.fromEntries(
      regions.map((region) => [region, largestFirst(byRegion.get(region.toLowerCase())!, 'city')]),
    ),
  };
}

function largestFirst(places: Place[], field: 'region' | 'city' | 'isp'): string[] {
  const sizes = new Map<string, { shown: string; size: number }>();
  for (const { [field]: value, pool_size } of places) {
    if (value === undefined) continue;
    const key = value.toLowerCase();
    const known = sizes.get(key);
    if (known) known.size += pool_size;
    else sizes.set(key, { shown: value, size: pool_size });
  }
  return [...sizes.values()].sort((a, b) => b.size - a.size || (a.shown < b.shown ? -1 : 1)).map(({ shown }) => shown);
}
