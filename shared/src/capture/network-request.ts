import { type Static, Type } from 'typebox';

/**
 * One request any frame or worker of the capture made. `hop` is the index in the chain of landing `landing` of the hop whose document
 * made it (null: not attributable); `initiator` is the `id` of the request that caused it.
 */
export const NetworkRequestSchema = Type.Object({
  id: Type.Integer(),
  url: Type.String(),
  method: Type.String(),
  resource_type: Type.String(),
  status_code: Type.Integer(),
  content_type: Type.String(),
  body_size: Type.Integer(),
  timestamp_ms: Type.Integer(),
  landing: Type.Union([Type.Integer(), Type.Null()]),
  hop: Type.Union([Type.Integer(), Type.Null()]),
  initiator: Type.Union([Type.Integer(), Type.Null()]),
});
export type NetworkRequest = Static<typeof NetworkRequestSchema>;
