import type { Exit, Place } from '../providers/exit.ts';
import type { ProviderConfig } from '../providers/provider-config.ts';
import { CatalogueError } from '../providers/read-catalogue.ts';
import type { UserNameField } from '../providers/user-name.ts';
import { sendsField, type UserNameConfig } from '../providers/vendor.ts';

/** The exit of a vendor's account for a place. The id encodes both: `acme/US/residential/Texas/Austin/`. */
export function vendorExit({ id, tickets_max, price_per_gb }: ProviderConfig, place: Place): Exit {
  const { country_code, proxy_type, region = '', city = '', isp = '' } = place;
  const path = [country_code, proxy_type, region, city, isp].map(encodeURIComponent).join('/');
  return {
    ...place,
    id: `${id}/${path}`,
    provider: id,
    account: id,
    ...(tickets_max && { tickets_max }),
    ...(price_per_gb && { price_per_gb }),
  };
}

/** Parses the id of a {@link vendorExit} into provider and place; null for any other id. */
export function readVendorExitId(exitId: string): { provider: string; place: Place } | null {
  const [provider = '', ...path] = exitId.split('/');
  if (path.length !== 5) return null;
  const [country_code, proxy_type, region, city, isp] = path.map(decodeURIComponent) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const place = { country_code, proxy_type: proxy_type as Place['proxy_type'], pool_size: 1 };
  return { provider, place: { ...place, ...(region && { region }), ...(city && { city }), ...(isp && { isp }) } };
}

/** A place's value for each field of a user name. */
const PLACE_VALUES: [UserNameField, (place: Place) => string | undefined][] = [
  ['country', ({ country_code }) => country_code],
  ['proxy_type', ({ proxy_type }) => proxy_type],
  ['region', ({ region }) => region],
  ['city', ({ city }) => city],
  ['isp', ({ isp }) => isp],
];

/**
 * The fields in which places differ but which the user name omits: the vendor cannot be asked for their values. Pure.
 */
export function omittedFields(config: UserNameConfig, places: readonly Place[]): UserNameField[] {
  return PLACE_VALUES.filter(
    ([field, valueIn]) => !sendsField(config, field) && places.some((place) => valueIn(place) !== valueIn(places[0]!)),
  ).map(([field]) => field);
}

/**
 * Whether places are in several countries and the user name omits the country: all scans would leave from one of them.
 * Pure.
 */
export const omitsCountry = (config: UserNameConfig, places: readonly Place[]): boolean =>
  omittedFields(config, places).includes('country');

/** Throws {@link CatalogueError} if {@link omitsCountry}. */
export function requireCountry(config: UserNameConfig, places: readonly Place[]): void {
  if (omitsCountry(config, places)) throw new CatalogueError(['has several countries, and username has no {country}']);
}
