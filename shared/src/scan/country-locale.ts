import { type Coordinates, placeOf } from './country-places.ts';

/** What a browser in a country says of itself: `languages` as BCP 47, most liked first; `timezone` IANA. */
export type CountryLocale = { languages: string[]; timezone: string; coordinates: Coordinates | null };

/** The languages, timezone and place of a country (ISO 3166-1 alpha-2): its likely language first, then English. */
export function countryLocale(countryCode: string): CountryLocale {
  return { languages: languagesOf(countryCode), ...placeOf(countryCode) };
}

function languagesOf(countryCode: string): string[] {
  const { language } = new Intl.Locale(`und-${countryCode}`).maximize();
  const own = language === 'en' ? [] : [language];
  return [...new Set([`${language}-${countryCode}`, ...own, 'en-US', 'en'])];
}
