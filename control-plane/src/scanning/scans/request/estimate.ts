import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { poolOf } from '../../../reference/catalogue/lookup.ts';
import type { ScanRecord } from '../../../scan/scan.ts';

/** What creating scans would do. `routable` false: not in every country; null: not known before the crawl. */
export type Estimate = {
  dry_run: true;
  scans: number;
  checks: { min: number; max: number };
  cost_micros: { min: number; max: number };
  routable: boolean | null;
  warnings: string[];
};

/** Estimates the scans that would be created, a group for each country, without storing them. */
export function estimate(groups: ScanRecord[][], catalogue: Catalogue): Estimate {
  const scans = groups.flat();
  const routes = groups.flatMap(([leader]) => (leader ? [route(leader, catalogue)] : []));
  const sum = (of: (scan: ScanRecord) => number) => scans.reduce((total, scan) => total + of(scan), 0);
  return {
    dry_run: true,
    scans: scans.length,
    checks: { min: scans.length, max: sum(checksMax) },
    cost_micros: {
      min: sum(({ price_micros }) => price_micros),
      max: sum((scan) => checksMax(scan) * scan.price_micros),
    },
    routable: allOf(routes.map(({ routable }) => routable)),
    warnings: routes.flatMap(({ warnings }) => warnings),
  };
}

/** A sweep is a check, and so is each ad that it finds. */
const checksMax = ({ discovery }: ScanRecord): number => 1 + (discovery?.max_discovered_ads ?? 0);

function allOf(answers: (boolean | null)[]): boolean | null {
  if (answers.includes(false)) return false;
  return answers.includes(null) ? null : true;
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
