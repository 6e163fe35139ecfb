import { ProxyTypeSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { type Static, Type } from 'typebox';

const PlaceName = Type.String({ minLength: 1, maxLength: 200 });

/** What an exits file and a vendor's catalogue say of a place, and how many addresses there are (`pool_size`). */
export const placeProperties = {
  country_code: Type.String({ pattern: '^[A-Za-z]{2}$' }),
  proxy_type: ProxyTypeSchema,
  region: Type.Optional(PlaceName),
  city: Type.Optional(PlaceName),
  isp: Type.Optional(PlaceName),
  pool_size: Type.Integer({ minimum: 1 }),
};

const PlaceSchema = Type.Object(placeProperties);

/** Where traffic can leave, with the number of addresses there; the country code is in upper case once it was read. */
export type Place = Static<typeof PlaceSchema>;
