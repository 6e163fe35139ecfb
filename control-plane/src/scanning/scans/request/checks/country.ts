import { closest } from '../../../../reference/catalogue/closest.ts';
import { countriesOf } from '../../../../reference/catalogue/lookup.ts';
import { type Check, issueAt } from './check.ts';

/** The country must be one that an exit serves (spec 7.1). */
export const checkCountry: Check = ({ scan, countries, catalogue }) => {
  const supported = countriesOf(catalogue);
  const [country] = countries;
  if (country === undefined || supported.includes(country)) return [];
  const ctx = { country_codes: [country], valid_sample: closest(supported, country), valid_total: supported.length };
  const msg = 'No exit serves this country.';
  return [issueAt('country_code', 'unsupported_country_code', msg, scan.country_code, ctx)];
};
