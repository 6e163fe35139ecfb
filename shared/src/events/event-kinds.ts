import type { Static } from 'typebox';
import { ScanCompletedSchema } from './payloads/scan-completed.ts';
import { ScreenshotCapturedSchema } from './payloads/screenshot-captured.ts';
import { TagsDetectedSchema } from './payloads/tags-detected.ts';

/** The kinds of events a client can subscribe to, each with the schema of its payload (spec 6). */
const EVENT_PAYLOADS = {
  'scanning.scan.completed': ScanCompletedSchema,
  'scanning.tags.detected': TagsDetectedSchema,
  'scanning.screenshot.captured': ScreenshotCapturedSchema,
} as const;

export type EventKind = keyof typeof EVENT_PAYLOADS;
export type EventPayload<K extends EventKind> = Static<(typeof EVENT_PAYLOADS)[K]>;

/** An event's kind together with the payload of that kind. */
export type EventContent = { [K in EventKind]: { event: K; payload: EventPayload<K> } }[EventKind];
