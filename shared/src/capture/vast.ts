import { type Static, Type } from 'typebox';
import { Count, OPEN } from './fields.ts';

const Url = Type.String({ maxLength: 65_536 });
const Word = Type.String({ maxLength: 300 });
const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

/**
 * What became of a document of a VAST tag: it has ads; it says that it has none; it is no VAST; it is too large to be read; its server
 * refused it (4xx), or did not answer; it was not asked for, because it leads in a circle, because there were too many, or because the
 * wrapper before allows none.
 */
export const VAST_OUTCOMES = [
  'ads',
  'no_ad',
  'invalid',
  'too_large',
  'refused',
  'unanswered',
  'loop',
  'limit',
  'not_followed',
] as const;
export type VastOutcome = (typeof VAST_OUTCOMES)[number];

/**
 * A rung of the wrapper ladder: one document, asked for at `requested_url` and found at `url`. `parent` is the rung whose wrapper led to
 * it, null = the tag itself; `depth` the wrappers before it; `readable` whether its server lets players on other origins read it (CORS).
 */
const RungSchema = Type.Object(
  {
    parent: OrNull(Count),
    depth: Count,
    outcome: Type.Enum(VAST_OUTCOMES),
    requested_url: Url,
    url: Url,
    status_code: Count,
    content_type: Word,
    bytes: Count,
    readable: Type.Boolean(),
    vast_version: Word,
    ad_system: Word,
    at_ms: Count,
    elapsed_ms: Count,
  },
  OPEN,
);

/** How an ad was shown: a video, a VPAID script, a picture over the content, or not at all. */
export const VAST_SHOWN = ['video', 'vpaid', 'nonlinear', 'nothing'] as const;

/** A media file that was tried: 'played', or why not. `undecodable`: the device's own browser plays such files, ours does not. */
export const MEDIA_OUTCOMES = ['played', 'refused', 'unanswered', 'broken', 'undecodable'] as const;
export type MediaOutcome = (typeof MEDIA_OUTCOMES)[number];

/**
 * A media file that the player took. `bitrate` in kbit/s and sizes in pixels as declared; `duration_ms`, `actual_width` and
 * `actual_height` as the browser measured them, 0 = it could not; `bytes` 0 = not known.
 */
const MediaSchema = Type.Object(
  {
    url: Url,
    type: Word,
    delivery: Word,
    bitrate: OrNull(Type.Number()),
    width: OrNull(Type.Number()),
    height: OrNull(Type.Number()),
    outcome: Type.Enum(MEDIA_OUTCOMES),
    status_code: Count,
    content_type: Word,
    bytes: Count,
    duration_ms: Count,
    actual_width: Count,
    actual_height: Count,
  },
  OPEN,
);

/** A companion as it was shown; `picture` names an artifact, null = none could be taken. */
const CompanionSchema = Type.Object(
  {
    form: Type.Enum(['static', 'iframe', 'html']),
    width: Count,
    height: Count,
    click_through: Url,
    picture: OrNull(Word),
  },
  OPEN,
);

/**
 * An ad that was played, in the order of playing. `rung` is its inline document, where it is the ad in place `position`; `wrappers` the
 * rungs that led to it, the outermost first. `mediafile_url`: the file or script that was taken, else the first that it has, '' = none.
 * `duration_ms` as declared; `error_code` what a player tells of it (VAST 4.3, 2.3.6.3), null = nothing went wrong. `verifications` are
 * the vendors of OMID and other scripts, `interactive` the frameworks of interactive files (SIMID).
 */
const PlayedAdSchema = Type.Object(
  {
    rung: Count,
    wrappers: Type.Array(Count, { maxItems: 20 }),
    position: Count,
    id: Word,
    sequence: OrNull(Type.Integer()),
    ad_system: Word,
    title: Word,
    advertiser: Word,
    shown: Type.Enum(VAST_SHOWN),
    duration_ms: OrNull(Count),
    played_ms: Count,
    click_through: Url,
    error_code: OrNull(Count),
    mediafile_url: Url,
    media: Type.Array(MediaSchema, { maxItems: 10 }),
    media_files: Count,
    companions: Type.Array(CompanionSchema, { maxItems: 20 }),
    verifications: Type.Array(Word, { maxItems: 50 }),
    interactive: Type.Array(Word, { maxItems: 50 }),
    is_vpaid: Type.Boolean(),
  },
  OPEN,
);

/** Which part of an ad a tracker belongs to; `document`: the error of a document without an ad. */
export const AD_PARTS = ['ad', 'linear', 'nonlinear', 'companion', 'icon', 'verification', 'document'] as const;
export type AdPart = (typeof AD_PARTS)[number];

/**
 * Something that a document wants to be told, declared against fired: the ad it belongs to (null: no ad came of its document), the rung
 * that declares it, and when it was asked for, null = never. `playhead_ms` is where the video was then, `status_code` what its server
 * answered, 0 = nothing.
 */
const TrackerSchema = Type.Object(
  {
    ad: OrNull(Count),
    rung: Count,
    part: Type.Enum(AD_PARTS),
    event: Word,
    offset: OrNull(Word),
    url: Url,
    requested_url: Url,
    requested_at_ms: OrNull(Count),
    playhead_ms: OrNull(Count),
    status_code: Count,
  },
  OPEN,
);
export type CapturedTracker = Static<typeof TrackerSchema>;

/**
 * What came of a VAST tag. `failure`: why there is no ad, null = there is one; `*_left_out`: how many more there are than the list has, not
 * there = 0. Times in ms since the capture began.
 */
export const VastSchema = Type.Object(
  {
    failure: OrNull(Type.Enum(VAST_OUTCOMES)),
    rungs: Type.Array(RungSchema, { maxItems: 25 }),
    rungs_left_out: Type.Optional(Count),
    ads: Type.Array(PlayedAdSchema, { maxItems: 10 }),
    ads_left_out: Type.Optional(Count),
    trackers: Type.Array(TrackerSchema, { maxItems: 500 }),
    trackers_left_out: Count,
  },
  OPEN,
);
export type CapturedVast = Static<typeof VastSchema>;
export type CapturedRung = CapturedVast['rungs'][number];
export type PlayedAd = CapturedVast['ads'][number];
export type TriedMedia = PlayedAd['media'][number];
