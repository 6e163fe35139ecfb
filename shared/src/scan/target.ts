import { type Static, Type } from 'typebox';

/** The kinds of targets (spec 2.1). */
export const TARGET_KINDS = ['url', 'ad_tag', 'vast_tag'] as const;

/** What a scan loads: a page URL, an ad tag or a VAST tag (spec 2.1). */
export const TargetSchema = Type.Object(
  {
    kind: Type.Union([Type.Literal('url'), Type.Literal('ad_tag'), Type.Literal('vast_tag')]),
    value: Type.String({ minLength: 1 }),
  },
  { additionalProperties: false },
);

export type Target = Static<typeof TargetSchema>;
export type TargetKind = Target['kind'];
