import type { Document, UpdateFilter } from 'mongodb';
import type { Collection, Store } from '../../src/store-shape.ts';

/** A record of any shape: the checks put all sorts of things into one field. */
export type Anything = Document & { _id: string };

/** An update of it: the driver takes `$push` and `$pull` only where it knows that a field is a list. */
export const update = (changes: object): UpdateFilter<Anything> => changes as UpdateFilter<Anything>;

/** One sentence about stores, and what shows that it holds: `things` is an empty collection of its own. */
export type Check = readonly [sentence: string, holds: (things: Collection<Anything>, store: Store) => Promise<void>];
