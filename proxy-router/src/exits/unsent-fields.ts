import type { Place } from '../providers/place.ts';
import { CatalogueError } from '../providers/read-catalogue.ts';
import type { UserNameField } from '../providers/user-name.ts';
import { sendsField, type UserNameConfig } from '../providers/vendor.ts';

/** What a place says of each field of a user name. */
const PLACE_VALUES: [UserNameField, (place: Place) => string | undefined][] = [
  ['country', ({ country_code }) => country_code],
  ['proxy_type', ({ proxy_type }) => proxy_type],
  ['region', ({ region }) => region],
  ['city', ({ city }) => city],
  ['isp', ({ isp }) => isp],
];

/** The fields in which the places differ and which the user name does not tell the vendor: a value of them cannot be asked for. Pure. */
export function unsentFields(config: UserNameConfig, places: readonly Place[]): UserNameField[] {
  return PLACE_VALUES.filter(
    ([field, valueIn]) => places.some((place) => valueIn(place) !== valueIn(places[0]!)) && !sendsField(config, field),
  ).map(([field]) => field);
}

/** Throws {@link CatalogueError} for places in several countries of which the vendor is not told: all scans would leave from the same. */
export function requireCountry(config: UserNameConfig, places: readonly Place[]): void {
  if (unsentFields(config, places).includes('country'))
    throw new CatalogueError(['has several countries, and username has no {country}']);
}
