import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { closest, countriesOf } from '../../../../reference/catalogue/lookup.ts';
import { type Check, issueAt, type SentCountries } from './check.ts';

/** Every country must have an exit (spec 7.1) and be named once. In bulk each refused country is an item of its own. */
export const checkCountry: Check = ({ sentCountries, countries, catalogue }) => {
  // A campaign may name a country twice: it is passed on once.
  const isListedOnce = new Set(countries).size === countries.length;
  const supported = countriesOf(catalogue);
  return placesOf(sentCountries).flatMap(({ at, sent, country }, index, all) => {
    const first = all.findIndex((one) => one.country === country);
    if (first < index) return isListedOnce ? [] : [twice(at, sent, country)];
    return supported.includes(country) ? [] : [unsupported(at, sent, country, supported)];
  });
};

type Place = { at: (string | number)[]; sent: string; country: string };

/** The countries that were sent as text, each with its field, as it was sent, and in upper case. */
function placesOf({ field, value }: SentCountries): Place[] {
  const all: [at: Place['at'], sent: unknown][] = Array.isArray(value)
    ? value.map((sent: unknown, index) => [[field, index], sent])
    : [[[field], value]];
  return all.flatMap(([at, sent]) => (typeof sent === 'string' ? [{ at, sent, country: sent.toUpperCase() }] : []));
}

function unsupported(at: Place['at'], sent: string, country: string, supported: string[]): Issue {
  const ctx = { country_codes: [country], valid_sample: closest(supported, country), valid_total: supported.length };
  const msg = country.trim() === '' ? 'Must name a country.' : `No exit serves this country: ${country}.`;
  return issueAt(at, 'unsupported_country_code', msg, sent, ctx);
}

const twice = (at: Place['at'], sent: string, country: string): Issue =>
  issueAt(at, 'duplicate_items', 'Must not name a country twice.', sent, { country_codes: [country] });
