import { type TProperties, Type } from 'typebox';
import { Count, OPEN } from '../count.ts';

/** A URL as an observation holds it. */
export const ObservedUrl = Type.String({ maxLength: 65_536 });

/**
 * The schema of one kind of observation: what the browser saw of the tab with ordinal `landing` (null: the tab that shows the creative of
 * an ad tag or VAST tag), in the document at `url`. All `facts` are there, and no others.
 */
export const observationOf = <K extends string, F extends TProperties>(kind: K, facts: F) =>
  Type.Object(
    {
      kind: Type.Literal(kind),
      landing: Type.Union([Count, Type.Null()]),
      url: ObservedUrl,
      facts: Type.Object(facts, { additionalProperties: false }),
    },
    OPEN,
  );
