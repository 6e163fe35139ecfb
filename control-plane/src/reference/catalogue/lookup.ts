import type { Catalogue, CataloguePool, ProxyType } from '@adsweep/shared/targeting/catalogue.ts';

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
