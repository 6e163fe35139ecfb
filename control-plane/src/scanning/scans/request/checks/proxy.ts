import type { CataloguePool } from '@adsweep/shared/targeting/catalogue.ts';
import type { Issue } from '../../../../http/errors.ts';
import { closest } from '../../../../reference/catalogue/closest.ts';
import { countriesOf, poolOf, spelled } from '../../../../reference/catalogue/lookup.ts';
import { proxyTypeIssues, readProxyType } from '../../../../reference/catalogue/proxy-type.ts';
import { type Check, issueAt } from './check.ts';

const PLACES = [
  ['region', 'regions', 'unsupported_proxy_region'],
  ['city', 'cities', 'unsupported_proxy_city'],
  ['isp', 'isps', 'unsupported_proxy_isp'],
] as const;

/**
 * Region, city and ISP must be the catalogue's for the country and the pool, in any letter case (spec 2.2, 4.1). A city outside the
 * chosen region passes: whether the two can be routed together shows at the crawl.
 */
export const checkProxy: Check = ({ scan: { proxy }, countries, catalogue }) => {
  if (!proxy) return [];
  const typeIssues = proxyTypeIssues(proxy.proxy_type, ['body', 'proxy', 'proxy_type']);
  const [country] = countries;
  // Without a country that is served, or a pool that exists, there are no values to hold these against.
  if (typeIssues.length > 0 || country === undefined || !countriesOf(catalogue).includes(country)) return typeIssues;
  const pool = poolOf(catalogue, country, readProxyType(proxy.proxy_type));
  return PLACES.flatMap(([field, list, type]) =>
    valueIssues(proxy[field] ?? '', field, pool?.[list] ?? [], type, country),
  );
};

function valueIssues(
  value: string,
  field: 'region' | 'city' | 'isp',
  values: CataloguePool['regions'],
  type: string,
  country: string,
): Issue[] {
  if (value === '' || spelled(values, value) !== null) return [];
  const ctx = { country_codes: [country], valid_sample: closest(values, value), valid_total: values.length };
  return [issueAt(['proxy', field], type, `${country} has no such ${field} in this pool.`, value, ctx)];
}
