import { ProxyTypeSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { type Static, Type } from 'typebox';

/**
 * An exit that can be picked: one from the exits file, or a vendor's account with a place to target. `id` is unique
 * among all exits; only the id of a vendor's exit has slashes.
 */
export type Exit = Place & {
  id: string;
  provider: string;
  /** URL of the upstream proxy with its credentials, for an exit of the provider `list`. */
  upstream?: string;
  /** The vendor's account, which has its own health and limits; absent for a listed exit. */
  account?: string;
  /** Limit of tickets in use at the same time, of the account if there is one. */
  tickets_max?: number;
  /** Price of 1,000,000,000 bytes, in the operator's currency. */
  price_per_gb?: number;
  /** Where it is, of a listed exit: the timezone (IANA), and degrees (WGS 84). Absent: those of its city. */
  timezone?: string;
  latitude?: number;
  longitude?: number;
};

/** An exit and the session that uses it: a vendor keeps the same address for the same session. */
export type ExitSession = { exit: Exit; session: string };

const PlaceName = Type.String({ minLength: 1, maxLength: 200 });

/** A place in an exits file or a vendor's catalogue, with its number of addresses (`pool_size`). */
export const placeProperties = {
  country_code: Type.String({ pattern: '^[A-Za-z]{2}$' }),
  proxy_type: ProxyTypeSchema,
  region: Type.Optional(PlaceName),
  city: Type.Optional(PlaceName),
  isp: Type.Optional(PlaceName),
  pool_size: Type.Integer({ minimum: 1 }),
};

const PlaceSchema = Type.Object(placeProperties);

/** Where traffic can leave, with the number of addresses there; readers convert the country code to upper case. */
export type Place = Static<typeof PlaceSchema>;

export const PriceSchema = Type.Optional(Type.Number({ minimum: 0 }));
export const TicketsMaxSchema = Type.Optional(Type.Integer({ minimum: 1 }));

export const ListedExitSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
    ...placeProperties,
    provider: Type.String({ minLength: 1 }),
    upstream: Type.Optional(Type.String({ minLength: 1 })),
    tickets_max: TicketsMaxSchema,
    price_per_gb: PriceSchema,
    timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
    longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
  },
  { additionalProperties: false },
);

/**
 * One exit as the exits file lists it: where its traffic leaves, and its number of addresses (`pool_size`). Reading the
 * file converts the country code to upper case.
 */
export type ListedExit = Static<typeof ListedExitSchema>;
