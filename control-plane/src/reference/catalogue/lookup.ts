import { VALID_SAMPLE_MAX } from '@adsweep/shared/limits.ts';
import {
  type Catalogue,
  type CataloguePool,
  PROXY_TYPES,
  type ProxyType,
} from '@adsweep/shared/targeting/catalogue.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { distance } from 'fastest-levenshtein';
import { ApiError } from '../../http/api-error.ts';

/** Returns the last copy of the catalogue; null if there is none yet. */
export type ReadCatalogue = () => Catalogue | null;

/**
 * Normalizes a text for comparison: values that differ only in letter case are equal (spec 2.2). In upper case first,
 * which some letters have in common with others (`ß` and `ss`, `ı` and `i`); `İ` has a lower case of its own.
 */
export const fold = (text: string): string =>
  text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('i\u0307', 'i');

/** The spelling in `values` of a value that was sent in any letter case; null if the list does not contain it. */
export function spelled(values: readonly string[], given: string): string | null {
  if (values.includes(given)) return given;
  return values[foldedOf(values).indexOf(fold(given))] ?? null;
}

/** The supported countries, in order of their codes. */
export function countriesOf(catalogue: Catalogue): string[] {
  return [...new Set(catalogue.pools.map(({ country_code }) => country_code))].sort();
}

/**
 * When the lists of a country were last verified; null: not yet. For a country without exits: when that was verified.
 */
export function refreshedAt(catalogue: Catalogue, countryCode: string): string | null {
  return (
    catalogue.pools.find(({ country_code }) => country_code === countryCode)?.refreshed_at ?? catalogue.refreshed_at
  );
}

/** The regions, cities and ISPs of a country and proxy type; null if the catalogue has no such pool. */
export function poolOf(catalogue: Catalogue, countryCode: string, proxyType: ProxyType): CataloguePool | null {
  return catalogue.pools.find((pool) => pool.country_code === countryCode && pool.proxy_type === proxyType) ?? null;
}

/** A text with so many characters more than the longest value is similar to none. */
const COMPARED_BEYOND = 8;
/** More characters than any value has. */
const MEASURED_MAX = 1_000;

/**
 * The folded values of lists: a request may name hundreds of unknown values, each of which is compared with the same
 * list.
 */
const foldedLists = new WeakMap<readonly string[], string[]>();

function foldedOf(values: readonly string[]): string[] {
  const folded = foldedLists.get(values) ?? values.map(fold);
  foldedLists.set(values, folded);
  return folded;
}

/**
 * Up to five of `values`, the most similar to `given` first (spec 2.4, `valid_sample`): by the letters to insert,
 * delete or replace.
 */
export function closest(values: readonly string[], given: string): string[] {
  const folded = foldedOf(values);
  const wanted = fold(given.slice(0, MEASURED_MAX));
  if (folded.every(({ length }) => wanted.length > length + COMPARED_BEYOND)) return values.slice(0, VALID_SAMPLE_MAX);
  const nearest: { position: number; letters: number }[] = [];
  for (const [position, value] of folded.entries()) {
    const letters = distance(wanted, value);
    // Of equal ones the first in the list stays in front.
    const at = nearest.findLastIndex((one) => one.letters <= letters) + 1;
    if (at === VALID_SAMPLE_MAX) continue;
    nearest.splice(at, 0, { position, letters });
    nearest.length = Math.min(nearest.length, VALID_SAMPLE_MAX);
  }
  return nearest.map(({ position }) => values[position]!);
}

/** The proxy type that a client sent, in any letter case; residential by default. */
export function readProxyType(text: string | undefined): ProxyType {
  return PROXY_TYPES.find((one) => one === fold(text ?? 'residential')) ?? 'residential';
}

/** An issue if `text` is not a proxy type. */
export function proxyTypeIssues(text: string | undefined, loc: Issue['loc']): Issue[] {
  if (text === undefined || spelled([...PROXY_TYPES], text) !== null) return [];
  const expected = PROXY_TYPES.map((one) => JSON.stringify(one)).join(', ');
  return [{ loc, msg: `Must be one of ${expected}.`, type: 'enum', ctx: { ...given(text), expected: PROXY_TYPES } }];
}

/** A 503 for requests that need the catalogue before its first copy has been read. */
export function catalogueNotReady(): ApiError {
  const detail = 'The targeting catalogue has not been read yet; try again shortly.';
  return new ApiError('catalogue.not_ready', detail, { headers: { 'Retry-After': '5' } });
}
