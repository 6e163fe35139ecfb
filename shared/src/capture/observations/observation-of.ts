import { type TProperties, Type } from 'typebox';
import { Count, OPEN } from '../fields.ts';

/** A URL in an observation. */
export const ObservedUrl = Type.String({ maxLength: 65_536 });

/**
 * The schema of one kind of observation: what the browser recorded in the tab with ordinal `landing` (null: the tab
 * that shows the creative of an ad tag or VAST tag), in the document at `url`. All `facts` are required, and no others
 * allowed.
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
