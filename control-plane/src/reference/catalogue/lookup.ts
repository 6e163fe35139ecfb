import { VALID_SAMPLE_MAX } from '@adsweep/shared/limits.ts';
import {
  type Catalogue,
  type CataloguePool,
  PROXY_TYPES,
  type ProxyType,
} from '@adsweep/shared/targeting/catalogue.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { ApiError } from '../../http/api-error.ts';

/** Answers the catalogue as it was last read; null before the first time. */
export type ReadCatalogue = () => Catalogue | null;

/** Texts that differ by letter case alone are the same value (spec 2.2). */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** The catalogue's own spelling of a value that was sent in any letter case; null where the list has no such value. */
export function spelled(values: string[], given: string): string | null {
  const wanted = fold(given);
  return values.find((value) => fold(value) === wanted) ?? null;
}

/** The supported countries, in order of their codes. */
export function countriesOf(catalogue: Catalogue): string[] {
  return [...new Set(catalogue.pools.map(({ country_code }) => country_code))].sort();
}

/** When the lists of a country were last verified, of one that nobody serves when that was; null: not yet. */
export function refreshedAt(catalogue: Catalogue, countryCode: string): string | null {
  return (
    catalogue.pools.find(({ country_code }) => country_code === countryCode)?.refreshed_at ?? catalogue.refreshed_at
  );
}

/** What can be targeted in a country and pool; null where the country has no such pool. */
export function poolOf(catalogue: Catalogue, countryCode: string, proxyType: ProxyType): CataloguePool | null {
  return catalogue.pools.find((pool) => pool.country_code === countryCode && pool.proxy_type === proxyType) ?? null;
}

/** The longest text that is worth comparing letter by letter. */
const COMPARED_LENGTH_MAX = 100;

/** At most five of `values`, those spelled most like `given` first (spec 2.4, `valid_sample`). */
export function closest(values: readonly string[], given: string): string[] {
  const wanted = fold(given).slice(0, COMPARED_LENGTH_MAX);
  return values
    .map((value, position) => ({ value, position, distance: editDistance(wanted, fold(value)) }))
    .sort((a, b) => a.distance - b.distance || a.position - b.position)
    .slice(0, VALID_SAMPLE_MAX)
    .map(({ value }) => value);
}

/** Levenshtein's distance: letters to add, drop or change. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** The pool a client means, in any letter case; residential where it said nothing. */
export function readProxyType(text: string | undefined): ProxyType {
  return PROXY_TYPES.find((one) => one === fold(text ?? 'residential')) ?? 'residential';
}

/** An issue where `text` is no pool's name. */
export function proxyTypeIssues(text: string | undefined, loc: Issue['loc']): Issue[] {
  if (text === undefined || spelled([...PROXY_TYPES], text) !== null) return [];
  const expected = PROXY_TYPES.map((one) => JSON.stringify(one)).join(', ');
  return [{ loc, msg: `Must be one of ${expected}.`, type: 'enum', ctx: { ...given(text), expected: PROXY_TYPES } }];
}

/** A 503 for what cannot be judged before the catalogue has been read once. */
export function catalogueNotReady(): ApiError {
  const detail = 'The targeting catalogue has not been read yet; try again shortly.';
  return new ApiError('catalogue.not_ready', detail, { headers: { 'Retry-After': '5' } });
}
