import { type TArrayOptions, type TSchema, Type } from 'typebox';

/**
 * A list of simple values that names none of them twice. TypeBox needs 10 us an item for `uniqueItems`, also in a list
 * that is too long anyway.
 */
export const DistinctList = <T extends TSchema>(item: T, options: TArrayOptions) =>
  Type.Refine(
    Type.Array(item, { ...options, description: ['Each once.', options.description ?? ''].join(' ').trim() }),
    (list) => new Set(list).size === list.length,
    () => 'Must not have the same item twice.',
  );
