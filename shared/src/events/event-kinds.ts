/** Kinds of events a client can subscribe to (spec 6). */
export const EVENT_KINDS = [
  'scanning.scan.completed',
  'scanning.tags.detected',
  'scanning.screenshot.captured',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];
