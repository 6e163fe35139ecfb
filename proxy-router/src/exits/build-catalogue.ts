import type { Catalogue, CataloguePool } from '@adsweep/shared/targeting/catalogue.ts';
import type { ListedExit } from '../providers/listed-exit.ts';

/**
 * The targeting that is available (spec 2.3): one pool for each country and proxy type that has an exit, values ordered by the number
 * of addresses behind them, largest first. Values that differ only in letter case are one; the first spelling is shown.
 */
export function buildCatalogue(exits: ListedExit[], refreshedAt: Date): Catalogue {
  const pools = Map.groupBy(exits, (exit) => `${exit.country_code} ${exit.proxy_type}`);
  return {
    refreshed_at: refreshedAt.toISOString(),
    pools: [...pools.keys()].sort().map((key) => buildPool(pools.get(key)!)),
  };
}

function buildPool(exits: ListedExit[]): CataloguePool {
  const [{ country_code, proxy_type }] = exits as [ListedExit];
  const regions = largestFirst(exits, 'region');
  const citiesOf = (region: string) => exits.filter((exit) => exit.region?.toLowerCase() === region.toLowerCase());
  return {
    country_code,
    proxy_type,
    regions,
    cities: largestFirst(exits, 'city'),
    isps: largestFirst(exits, 'isp'),
    cities_by_region: Object.fromEntries(regions.map((region) => [region, largestFirst(citiesOf(region), 'city')])),
  };
}

function largestFirst(exits: ListedExit[], field: 'region' | 'city' | 'isp'): string[] {
  const sizes = new Map<string, { shown: string; size: number }>();
  for (const { [field]: value, pool_size } of exits) {
    if (value === undefined) continue;
    const known = sizes.get(value.toLowerCase()) ?? { shown: value, size: 0 };
    sizes.set(value.toLowerCase(), { ...known, size: known.size + pool_size });
  }
  return [...sizes.values()].sort((a, b) => b.size - a.size || (a.shown < b.shown ? -1 : 1)).map(({ shown }) => shown);
}
