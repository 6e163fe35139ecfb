import { EVENT_KINDS, EVENT_PAYLOADS, type EventKind, type EventPayload } from '@adsweep/shared/events/event-kinds.ts';
import { type TSchema, Type } from 'typebox';

/** The body of a delivery: the envelope of Standard Webhooks, in which `timestamp` is when the event occurred. */
export type EventBody = { type: EventKind; timestamp: string; data: EventPayload<EventKind> & { sequence: number } };

/** The description of a kind of event in the catalogue. */
export type EventType = { kind: EventKind; description: string; schema: TSchema; sample: EventBody };

const ID = '0b7c6a52-6f0e-4f39-9a52-1f4c5f1f7f3a';
const ORIGIN = 'https://adsweep.example';
const common = {
  scan_id: ID,
  url: 'https://shop.example/landing',
  country_code: 'US',
  emulator_id: 'windows_chrome',
  campaign_id: 'c2a1f7de-52c9-4a39-8c7e-3f4f5b9f8a10',
  run_id: '5a0f6c2e-7a44-4f0b-8d0e-9a7d2f1c6b55',
  parent_scan_id: null,
  labels: { team: 'emea' },
  report_url: `${ORIGIN}/console/scans/${ID}`,
  public_report_url: `${ORIGIN}/r/Zm9vYmFyYmF6cXV4MTIzNA`,
};

const KINDS: { [K in EventKind]: { description: string; sequence: number; sample: EventPayload<K> } } = {
  'scanning.scan.completed': {
    description:
      'The classification of the scan is finished. `status` is `completed`, or `partial` if `error` names what is missing.',
    sequence: 3,
    sample: {
      ...common,
      status: 'completed',
      classification: {
        brand: 'Example Shop',
        ai_category: { tier1: 'Retail', tier2: 'Clothing', tier3: null, tier4: null },
        iab_v3: { id: '473', tier1: 'Shopping', tier2: null, tier3: null, tier4: null },
        custom_taxonomies: [],
      },
      network: 'Example Ads',
      network_host: 'ads.example',
      error: '',
    },
  },
  'scanning.tags.detected': {
    description:
      'Tags were detected on the scan. Tags that were archived before the delivery are left out; if none is left, nothing is sent.',
    sequence: 2,
    sample: {
      ...common,
      status: 'completed',
      tag_slugs: ['autosound'],
      tags: [{ slug: 'autosound', category: 'behavior', severity: 'medium', url: '' }],
    },
  },
  'scanning.screenshot.captured': {
    description: 'The crawl stored a screenshot, minutes before the completion. The pictures need the API key.',
    sequence: 1,
    sample: {
      ...common,
      status: 'crawled',
      screenshot_url: `${ORIGIN}/api/v1/scans/${ID}/screenshot`,
      creative_screenshot_url: '',
      page_title: 'Spring offer',
    },
  },
};

const sampleOf = (kind: EventKind): EventBody => {
  const { sample, sequence } = KINDS[kind];
  return { type: kind, timestamp: '2026-03-01T09:30:00.000Z', data: { ...sample, sequence } };
};

const bodySchema = (kind: EventKind): TSchema =>
  Type.Object({
    type: Type.Literal(kind),
    timestamp: Type.String({ format: 'date-time', description: 'When the event occurred.' }),
    data: Type.Object({
      ...EVENT_PAYLOADS[kind].properties,
      sequence: Type.Integer({ description: 'Orders the events of one scan.' }),
    }),
  });

/** All kinds of events, in the order of a scan. */
export const EVENT_TYPES: EventType[] = EVENT_KINDS.toReversed().map((kind) => ({
  kind,
  description: KINDS[kind].description,
  schema: bodySchema(kind),
  sample: sampleOf(kind),
}));

/** The sample of a kind. */
export const sampleBody = (kind: EventKind): EventBody => EVENT_TYPES.find((one) => one.kind === kind)!.sample;
