import { type Static, type TProperties, Type } from 'typebox';
import { SCAN_STATUSES } from '../scan/scan-status.ts';

const TextOrNull = Type.Union([Type.String(), Type.Null()]);

const [tier1, deeper] = [Type.String(), TextOrNull];
const tiers = { tier1, tier2: deeper, tier3: deeper, tier4: deeper };

const ClassificationSchema = Type.Object({
  brand: TextOrNull,
  ai_category: Type.Union([Type.Object(tiers), Type.Null()]),
  iab_v3: Type.Union([Type.Object({ ...tiers, id: Type.String() }), Type.Null()]),
  custom_taxonomies: Type.Array(
    Type.Object({
      taxonomy_id: Type.String(),
      taxonomy_name: Type.String(),
      taxonomy_slug: Type.String(),
      taxonomy_version: Type.Integer(),
      leaf_node_id: TextOrNull,
      tier1: TextOrNull,
      tier2: TextOrNull,
      tier3: TextOrNull,
      tier4: TextOrNull,
      used_default: Type.Boolean(),
    }),
  ),
});

/** What the events of every kind say of their scan. URLs are absolute, '' = none. */
const ofEveryKind = {
  scan_id: Type.String(),
  status: Type.Enum(SCAN_STATUSES, { description: 'Of the scan, when the event occurred.' }),
  url: Type.String({ description: 'Empty for ad tags and VAST tags.' }),
  country_code: Type.String(),
  emulator_id: Type.String(),
  campaign_id: TextOrNull,
  run_id: TextOrNull,
  parent_scan_id: Type.Union([Type.String(), Type.Null()], { description: 'The sweep that found this ad.' }),
  labels: Type.Record(Type.String(), Type.String()),
  report_url: Type.String(),
  public_report_url: Type.String({ description: 'A read-only view that needs no login.' }),
};

const payload = <P extends TProperties>(own: P) =>
  Type.Object({ ...ofEveryKind, ...own }, { additionalProperties: false });

/** Payload of `scanning.screenshot.captured`: the crawl stored a screenshot (spec 6). */
const ScreenshotCapturedSchema = payload({
  screenshot_url: Type.String(),
  creative_screenshot_url: Type.String(),
  page_title: Type.String(),
});

/** Payload of `scanning.tags.detected`: the slugs of the scan's tags, each once (spec 6), and where each was found. */
const TagsDetectedSchema = payload({
  tag_slugs: Type.Array(Type.String(), { minItems: 1 }),
  tags: Type.Array(
    Type.Object({
      slug: Type.String(),
      category: Type.String(),
      severity: Type.Enum(['high', 'medium', 'low']),
      url: Type.String({ description: 'The link that has the tag; empty: the whole scan.' }),
    }),
  ),
});

/** Payload of `scanning.scan.completed`: the classification of the scan is finished (spec 6). */
const ScanCompletedSchema = payload({
  classification: ClassificationSchema,
  network: Type.String(),
  network_host: Type.String(),
  error: Type.String({ description: 'What is missing of a `partial` scan; empty: nothing.' }),
});

/** The kinds of events a client can subscribe to, each with the schema of its payload (spec 6). */
export const EVENT_PAYLOADS = {
  'scanning.scan.completed': ScanCompletedSchema,
  'scanning.tags.detected': TagsDetectedSchema,
  'scanning.screenshot.captured': ScreenshotCapturedSchema,
} as const;

export type EventKind = keyof typeof EVENT_PAYLOADS;
/** What an event says; `data` of a delivery is this and the event's `sequence`. */
export type EventPayload<K extends EventKind> = Static<(typeof EVENT_PAYLOADS)[K]>;

export const EVENT_KINDS = Object.keys(EVENT_PAYLOADS) as EventKind[];

/** What the payloads of all kinds have in common. */
export type CommonPayload = Pick<EventPayload<'scanning.scan.completed'>, keyof typeof ofEveryKind>;

/** An event's kind together with the payload of that kind. */
export type EventContent = { [K in EventKind]: { event: K; payload: EventPayload<K> } }[EventKind];
