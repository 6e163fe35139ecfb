import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { closest, countriesOf } from '../../../../reference/catalogue/lookup.ts';
import { type Check, issueAt, type SentCountries } from './check.ts';

/** Every country must have an exit (spec 7.1) and be named once. */
export const checkCountry: Check = ({ sentCountries, countries, catalogue }) => {
  const supported = countriesOf(catalogue);
  const unknown = [...new Set(countries)].filter((country) => !supported.includes(country));
  const [first] = unknown;
  if (first === undefined) return duplicateCountries(sentCountries, countries);
  const ctx = { country_codes: unknown, valid_sample: closest(supported, first), valid_total: supported.length };
  const msg = `No exit serves ${unknown.length === 1 ? 'this country' : 'these countries'}: ${unknown.join(', ')}.`;
  const refused = issueAt(sentCountries.field, 'unsupported_country_code', msg, sentCountries.value, ctx);
  return [refused, ...duplicateCountries(sentCountries, countries)];
};

function duplicateCountries({ field, value }: SentCountries, countries: string[]): Issue[] {
  const twice = [...new Set(countries.filter((country, at) => countries.indexOf(country) !== at))];
  if (twice.length === 0) return [];
  return [issueAt(field, 'duplicate_items', 'Must not name a country twice.', value, { country_codes: twice })];
}
