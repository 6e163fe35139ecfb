import { type Static, Type } from 'typebox';

/** Payload of `scanning.screenshot.captured`: the crawl stored a screenshot (spec 6). URLs are absolute, '' = none. */
const ScreenshotCapturedSchema = Type.Object(
  {
    scan_id: Type.String(),
    screenshot_url: Type.String(),
    creative_screenshot_url: Type.String(),
    page_title: Type.String(),
    report_url: Type.String(),
    public_report_url: Type.String(),
  },
  { additionalProperties: false },
);

/** Payload of `scanning.tags.detected`: the slugs of the scan's tags, each once (spec 6). */
const TagsDetectedSchema = Type.Object(
  { scan_id: Type.String(), tag_slugs: Type.Array(Type.String(), { minItems: 1 }) },
  { additionalProperties: false },
);

/** Payload of `scanning.scan.completed`: the classification of the scan is finished (spec 6). */
const ScanCompletedSchema = Type.Object(
  { scan_id: Type.String(), status: Type.Enum(['completed', 'partial']) },
  { additionalProperties: false },
);

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
