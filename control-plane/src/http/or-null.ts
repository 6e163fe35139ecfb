import { type TNull, type TSchema, type TUnion, Type } from 'typebox';

/** A value of `schema`, or null. */
export const orNull = <S extends TSchema>(schema: S): TUnion<[S, TNull]> => Type.Union([schema, Type.Null()]);
