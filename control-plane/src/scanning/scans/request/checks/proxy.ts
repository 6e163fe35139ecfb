import type { CataloguePool } from '@adsweep/shared/targeting/catalogue.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import {
  closest,
  countriesOf,
  poolOf,
  proxyTypeIssues,
  readProxyType,
  spelled,
} from '../../../../reference/catalogue/lookup.ts';
import { type Check, issueAt } from './check.ts';

const TARGETING_FIELDS = [
  ['region', 'regions', 'unsupported_proxy_region'],
  ['city', 'cities', 'unsupported_proxy_city'],
  ['isp', 'isps', 'unsupported_proxy_isp'],
] as const;

/**
 * Region, city and ISP must be the catalogue's for the country and the pool, in any letter case (spec 2.2, 4.1). A city
 * outside the chosen region passes: only the crawl shows whether both can be routed together.
 */
export const checkProxy: Check = ({ scan: { proxy }, countries, catalogue }) => {
  if (!proxy) return [];
  const typeIssues = proxyTypeIssues(proxy.proxy_type, ['body', 'proxy', 'proxy_type']);
  if (typeIssues.length > 0) return typeIssues;
  // Without a supported country, there are no values to compare with.
  const served = [...new Set(countries)].filter((country) => countriesOf(catalogue).includes(country));
  const proxyType = readProxyType(proxy.proxy_type);
  return TARGETING_FIELDS.flatMap(([field, list, type]) => {
    const valuesOf = (country: string) => poolOf(catalogue, country, proxyType)?.[list] ?? [];
    return valueIssues(proxy[field] ?? '', field, type, served, valuesOf);
  });
};

/** One issue for all countries that do not have the value. */
function valueIssues(
  value: string,
  field: 'region' | 'city' | 'isp',
  type: string,
  countries: string[],
  valuesOf: (country: string) => CataloguePool['regions'],
): Issue[] {
  const lacking = value === '' ? [] : countries.filter((country) => spelled(valuesOf(country), value) === null);
  if (lacking.length === 0) return [];
  const values = [...new Set(lacking.flatMap(valuesOf))];
  const ctx = { country_codes: lacking, valid_sample: closest(values, value), valid_total: values.length };
  const msg = `${lacking.join(', ')} ${lacking.length === 1 ? 'has' : 'have'} no such ${field} in this pool.`;
  return [issueAt(['proxy', field], type, msg, value, ctx)];
}
