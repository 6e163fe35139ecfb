import { type Static, Type } from 'typebox';
import { Count, OPEN } from './fields.ts';

const Url = Type.String({ maxLength: 65_536 });
const Word = Type.String({ maxLength: 300 });
const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

/**
 * The outcome of a document of a VAST tag. `ads`: it has ads; `no_ad`: it declares that it has none; `invalid`: it is
 * not VAST; `too_large`: it is too large to be read; `refused`: its server refused it (4xx); `unanswered`: its server
 * did not answer. The others were not requested: `loop`: the wrappers form a loop; `limit`: there were too many;
 * `not_followed`: a wrapper before it allows no more.
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
 * One document of the wrapper chain, requested at `requested_url` and found at `url` after redirects. `parent`: index
 * of the document whose wrapper points to it, null = the tag itself; `depth`: the number of wrappers before it;
 * `readable`: whether its server lets players on other origins read it (CORS).
 */
const WrapperSchema = Type.Object(
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

/** How an ad was shown: a video, a VPAID script, an overlay over the content, or not at all. */
export const VAST_SHOWN = ['video', 'vpaid', 'nonlinear', 'nothing'] as const;

/**
 * Whether a media file was played, or why not. `undecodable`: the device's own browser plays such files, ours does not.
 */
export const MEDIA_OUTCOMES = ['played', 'refused', 'unanswered', 'broken', 'undecodable'] as const;
export type MediaOutcome = (typeof MEDIA_OUTCOMES)[number];

/**
 * A media file that the player tried. `bitrate` in kbit/s and sizes in pixels as declared; `duration_ms`,
 * `actual_width` and `actual_height` as the browser measured them, 0 = not known; `bytes` 0 = not known.
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

/** A companion as it was shown; `picture` names an artifact, null = no screenshot could be taken. */
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
 * An ad that was played, in playing order. `rung`: index of its inline document in the wrapper chain, in which it is
 * the ad with index `position`; `wrappers`: indexes of the documents whose wrappers point to it, the outermost first.
 * `mediafile_url`: the file or script that was used, else the first that is declared, '' = none. `duration_ms` as
 * declared; `error_code` as a player reports it (VAST 4.3, 2.3.6.3), null = no error. `verifications`: the vendors of
 * OMID and other scripts; `interactive`: the frameworks of interactive files (SIMID). `is_nonlinear`: it has overlays
 * and no video, absent = not known.
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
    is_nonlinear: Type.Optional(Type.Boolean()),
  },
  OPEN,
);

/** Which part of an ad a tracker belongs to; `document`: the error URL of a branch without an ad. */
export const AD_PARTS = ['ad', 'linear', 'nonlinear', 'companion', 'icon', 'verification', 'document'] as const;
export type AdPart = (typeof AD_PARTS)[number];

/**
 * A tracker that a document declares: the index of its ad (null: its branch has no ad), of the document that declares
 * it (`rung`), and when it was requested, null = never. `playhead_ms`: the playhead of the video then; `status_code`:
 * of its server's response, 0 = none.
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
 * The result of a VAST tag. `failure`: why there is no ad, null = there is one; `rungs`: the documents of the wrapper
 * chain; `*_left_out`: how many more there are than the list has, absent = 0. Times in ms since the capture began.
 */
export const VastSchema = Type.Object(
  {
    failure: OrNull(Type.Enum(VAST_OUTCOMES)),
    rungs: Type.Array(WrapperSchema, { maxItems: 25 }),
    rungs_left_out: Type.Optional(Count),
    ads: Type.Array(PlayedAdSchema, { maxItems: 10 }),
    ads_left_out: Type.Optional(Count),
    trackers: Type.Array(TrackerSchema, { maxItems: 500 }),
    trackers_left_out: Count,
  },
  OPEN,
);
export type CapturedVast = Static<typeof VastSchema>;
export type CapturedWrapper = CapturedVast['rungs'][number];
export type PlayedAd = CapturedVast['ads'][number];
export type TriedMedia = PlayedAd['media'][number];
