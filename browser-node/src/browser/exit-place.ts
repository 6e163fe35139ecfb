import { countryLocale } from '@adsweep/shared/scan/country-locale.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import cityTimezones, { type CityData } from 'city-timezones';

/** Where a page finds its visitor: the timezone (IANA), and degrees (WGS 84); null: not known. */
export type ExitPlace = { timezone: string; coordinates: { latitude: number; longitude: number } | null };

/** The fields of an exit that locate it. */
export type LocatedExit = Pick<Exit, 'country_code' | 'region' | 'city' | 'timezone' | 'latitude' | 'longitude'>;

/**
 * The place of an exit: what the operator's exits file says, else its city, else the largest city of its region, else
 * that of its country. A page that compares the clock with the place of its visitor's address sees no difference.
 */
export function exitPlace(exit: LocatedExit): ExitPlace {
  const city = cityOf(exit);
  const country = () => countryLocale(exit.country_code);
  const ofCity = city && { latitude: city.lat, longitude: city.lng };
  const { latitude, longitude } = exit;
  const written = typeof latitude === 'number' && typeof longitude === 'number' ? { latitude, longitude } : null;
  return {
    timezone: exit.timezone ?? city?.timezone ?? country().timezone,
    coordinates: written ?? ofCity ?? country().coordinates,
  };
}

/** A city with its names and those of its region, each as {@link plain}. */
type NamedCity = { city: CityData; names: string[]; regions: string[] };

/** Without accents, letter case and what separates words: operators and vendors write names in different ways. */
const plain = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

/** Cities of each country that have a timezone, the largest first. */
const CITIES: ReadonlyMap<string, NamedCity[]> = Map.groupBy(
  // The list has no timezone for a few places.
  cityTimezones.cityMapping
    .filter(({ timezone }) => timezone)
    .toSorted((one, other) => other.pop - one.pop)
    .map((city) => ({
      city,
      names: [plain(city.city), plain(city.city_ascii)],
      regions: [city.province, city.state_ansi].map((name) => plain(name ?? '')),
    })),
  ({ city }) => city.iso2,
);

function cityOf({ country_code, region, city }: LocatedExit): CityData | null {
  const cities = CITIES.get(country_code.toUpperCase()) ?? [];
  const [wanted, wantedRegion] = [plain(city ?? ''), plain(region ?? '')];
  const inRegion = wantedRegion === '' ? [] : cities.filter(({ regions }) => regions.includes(wantedRegion));
  const isCity = ({ names }: NamedCity) => wanted !== '' && names.includes(wanted);
  return (inRegion.find(isCity) ?? cities.find(isCity) ?? inRegion[0])?.city ?? null;
}
