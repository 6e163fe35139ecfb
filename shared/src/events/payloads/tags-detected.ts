import { Type } from 'typebox';

/** Payload of `scanning.tags.detected`: the slugs of the scan's tags, each once (spec 6). */
export const TagsDetectedSchema = Type.Object(
  { scan_id: Type.String(), tag_slugs: Type.Array(Type.String(), { minItems: 1 }) },
  { additionalProperties: false },
);
