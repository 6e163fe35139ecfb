import { type Static, Type } from 'typebox';
import { Count, OPEN, Text } from './fields.ts';

/** Where a request was made: in a landing, or in the tab that shows the creative of an ad tag or VAST tag. */
const SURFACES = ['page', 'creative'] as const;
export type Surface = (typeof SURFACES)[number];

/**
 * One request any frame or worker of the capture made. `hop` is the index in the chain of landing `landing` of the hop
 * whose document made it (null: not attributable); `initiator` is the `id` of the request that caused it. With the
 * surface `creative`, `landing` is null and `hop` an index in the chain of the creative; without a surface it was made
 * in a page.
 */
export const NetworkRequestSchema = Type.Object(
  {
    id: Count,
    url: Text,
    method: Text,
    resource_type: Text,
    status_code: Count,
    content_type: Text,
    body_size: Count,
    timestamp_ms: Count,
    landing: Type.Union([Count, Type.Null()]),
    hop: Type.Union([Count, Type.Null()]),
    initiator: Type.Union([Count, Type.Null()]),
    surface: Type.Optional(Type.Enum(SURFACES)),
  },
  OPEN,
);
export type NetworkRequest = Static<typeof NetworkRequestSchema>;
