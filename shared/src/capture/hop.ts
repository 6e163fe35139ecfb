import { type Static, Type } from 'typebox';
import { Count, OPEN, Text } from './fields.ts';

/** How a navigation came about. `initial` is the scan's own; the `http` ones are told apart by their status code. */
export const HOP_KINDS = [
  'initial',
  'http',
  'meta_refresh',
  'refresh_header',
  'script',
  'form',
  'anchor',
  'history',
  'other',
] as const;
export type HopKind = (typeof HOP_KINDS)[number];

/** One request a document made, with those it caused; sizes in bytes, times in ms since the capture began. */
export type SubRequest = {
  url: string;
  resource_type: string;
  status_code: number;
  content_type: string;
  body_size: number;
  timestamp_ms: number;
  children: SubRequest[];
};

/**
 * One step of a redirect chain (spec 2.1). `status_code` 0 = no answer came. `body_size` in bytes, `timestamp_ms` since
 * the capture began, `redirected_from` the URL of the step before ('' on the first), `kind` how it got here.
 */
export const HopSchema = Type.Object(
  {
    url: Text,
    kind: Type.Enum(HOP_KINDS),
    status_code: Count,
    content_type: Text,
    body_size: Count,
    timestamp_ms: Count,
    redirected_from: Text,
  },
  OPEN,
);
export type CapturedHop = Static<typeof HopSchema>;

/** A hop as clients see it: with the requests its document made. */
export type Hop = CapturedHop & { sub_requests: SubRequest[] };
