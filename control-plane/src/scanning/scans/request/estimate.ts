import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { poolOf } from '../../../reference/catalogue/lookup.ts';
import type { ScanRecord } from '../state/scan.ts';

/** What creating a scan would do. `routable` null: that shows at the crawl alone. */
export type Estimate = {
  dry_run: true;
  scans: number;
  checks: { min: number; max: number };
  cost_micros: { min: number; max: number };
  routable: boolean | null;
  warnings: string[];
};

/** The scan as it would be created, judged and not written. */
export function estimate(scan: ScanRecord, catalogue: Catalogue): Estimate {
  const { routable, warnings } = route(scan, catalogue);
  const cost = scan.price_micros;
  return {
    dry_run: true,
    scans: 1,
    checks: { min: 1, max: 1 },
    cost_micros: { min: cost, max: cost },
    routable,
    warnings,
  };
}

function route({ proxy, country_code }: ScanRecord, catalogue: Catalogue): Pick<Estimate, 'routable' | 'warnings'> {
  const { proxy_type, region, city, isp } = proxy ?? {
    proxy_type: 'residential' as const,
    region: '',
    city: '',
    isp: '',
  };
  const pool = poolOf(catalogue, country_code, proxy_type);
  if (!pool) return { routable: false, warnings: [`${country_code} has no ${proxy_type} exits; the scan would fail.`] };
  if (region !== '' && city !== '' && !pool.cities_by_region[region]?.includes(city))
    return { routable: false, warnings: [`${city} is not in ${region}; the scan would fail.`] };
  // The catalogue does not say which ISPs there are in which place.
  return { routable: isp !== '' && region + city !== '' ? null : true, warnings: [] };
}
