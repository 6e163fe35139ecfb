import { type Static, Type } from 'typebox';
import { placeProperties } from './place.ts';

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
  },
  { additionalProperties: false },
);

/**
 * One exit as the exits file lists it: where its traffic leaves, and how many addresses it has (`pool_size`). The country code is in
 * upper case once the file was read.
 */
export type ListedExit = Static<typeof ListedExitSchema>;
