import { type Static, Type } from 'typebox';
import { REQUEST_URLS_MAX } from '../limits.ts';
import { ExitSchema } from '../targeting/exit-ticket.ts';
import { AD_BLOCKS_MAX, ListedAdBlockSchema } from './ad-block.ts';
import { ArtifactSchema } from './artifacts.ts';
import { CreativeSchema } from './creative.ts';
import { Count, OPEN, Text } from './fields.ts';
import { HopSchema } from './hop.ts';
import { NetworkRequestSchema } from './network-request.ts';
import { NOTES_MAX, NoteSchema } from './notes.ts';
import { ObservationSchema } from './observations/index.ts';
import { VastSchema } from './vast.ts';

/**
 * A tab, by ordinal: of a page, 0 is its own and 1.. those it opened; of an ad tag or VAST tag, those that the click
 * opened, of these the empty ones last, then those that opened by themselves. `screenshot` names an artifact, null =
 * none could be taken.
 */
const LandingSchema = Type.Object(
  {
    ord: Type.Integer({ minimum: 0, maximum: 999 }),
    opener_url: Text,
    final_url: Text,
    page_title: Text,
    site_name: Text,
    redirect_chain: Type.Array(HopSchema, { maxItems: 200 }),
    screenshot: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
    opened_at_ms: Count,
    elapsed_ms: Count,
  },
  OPEN,
);
export type CapturedLanding = Static<typeof LandingSchema>;

/** What the gateway carried for the capture, in bytes; null = the gateway could not say. */
const TrafficSchema = Type.Object(
  {
    bytes_sent: Count,
    bytes_received: Count,
  },
  OPEN,
);

/**
 * What the browser saw in one attempt. Times are ms since `started_at` (ISO 8601). `creative` is there for ad tags,
 * VAST tags and discovered ads alone, `ad_blocks` for sweeps alone, in the order of `slot_index`. `notes`: what it
 * lacks. A failed attempt's capture holds the evidence so far.
 */
export const CaptureSchema = Type.Object(
  {
    started_at: Type.String({ maxLength: 40 }),
    elapsed_ms: Count,
    browser: Type.Object({ name: Type.String({ maxLength: 100 }), version: Type.String({ maxLength: 100 }) }, OPEN),
    exit: Type.Union([ExitSchema, Type.Null()]),
    traffic: Type.Union([TrafficSchema, Type.Null()]),
    landings: Type.Array(LandingSchema, { maxItems: 50 }),
    creative: Type.Optional(CreativeSchema),
    vast: Type.Optional(VastSchema),
    ad_blocks: Type.Optional(Type.Array(ListedAdBlockSchema, { maxItems: AD_BLOCKS_MAX })),
    requests: Type.Array(NetworkRequestSchema, { maxItems: REQUEST_URLS_MAX }),
    observations: Type.Array(ObservationSchema, { maxItems: 200 }),
    artifacts: Type.Array(ArtifactSchema, { maxItems: 60 }),
    notes: Type.Array(NoteSchema, { maxItems: NOTES_MAX }),
  },
  { additionalProperties: false },
);
export type Capture = Static<typeof CaptureSchema>;

/** A capture in which nothing was seen. `started_at` is ISO 8601, `elapsed_ms` in ms. */
export const emptyCapture = (about: Pick<Capture, 'started_at' | 'elapsed_ms' | 'browser'>): Capture => ({
  ...about,
  exit: null,
  traffic: null,
  landings: [],
  requests: [],
  observations: [],
  artifacts: [],
  notes: [],
});

/** The ordinal of the tab that a capture is about; the others were opened by it. */
export const SUBJECT_ORD = 0;

/** The landing that a capture is about: a page's own tab. undefined where the capture failed before it opened. */
export const subjectLanding = <L extends { ord: number }>(landings: readonly L[]): L | undefined =>
  landings.find(({ ord }) => ord === SUBJECT_ORD);

/** The landings that the subject opened by itself. */
export const openedLandings = <L extends { ord: number }>(landings: readonly L[]): L[] =>
  landings.filter(({ ord }) => ord !== SUBJECT_ORD);
