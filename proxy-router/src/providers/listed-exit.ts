import { ProxyTypeSchema } from '@adsweep/shared/targeting/catalogue.ts';
import { type Static, Type } from 'typebox';

const Place = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

export const ListedExitSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
    country_code: Type.String({ pattern: '^[A-Za-z]{2}$' }),
    proxy_type: ProxyTypeSchema,
    region: Place,
    city: Place,
    isp: Place,
    pool_size: Type.Integer({ minimum: 1 }),
    provider: Type.String({ minLength: 1 }),
  },
  { additionalProperties: false },
);

/**
 * One exit as the exits file lists it: where its traffic leaves, and how many addresses it has (`pool_size`). The country code is in
 * upper case once the file was read.
 */
export type ListedExit = Static<typeof ListedExitSchema>;
