import { AD_PARTS, MEDIA_OUTCOMES, VAST_OUTCOMES, VAST_SHOWN } from '@adsweep/shared/capture/vast.ts';
import { VAST_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { Type } from 'typebox';
import { orNull } from '../../../http/route.ts';

export const VideoSchema = Type.Object(
  {
    duration_ms: Type.Integer(),
    mediafile_url: Type.String(),
    vast_version: Type.String(),
    ad_system: Type.String(),
    is_vpaid: Type.Boolean(),
    wrapper_depth: Type.Integer(),
    click_through: Type.String(),
  },
  { title: 'Video' },
);

const SinceCrawl = { description: 'Milliseconds since the crawl began.' };

const WrapperSchema = Type.Object(
  {
    parent: orNull(
      Type.Integer({ description: 'Index of the document whose wrapper led here; null: the tag itself.' }),
    ),
    depth: Type.Integer(),
    outcome: Type.Enum(VAST_OUTCOMES, {
      description: `too_large: more than ${VAST_LENGTH_MAX.toLocaleString('en')} characters, which are not read.`,
    }),
    url: Type.String(),
    status_code: Type.Integer({ description: '0: no response.' }),
    content_type: Type.String(),
    bytes: Type.Integer(),
    readable: Type.Boolean({ description: 'Whether players on other origins may read it (CORS).' }),
    vast_version: Type.String(),
    ad_system: Type.String(),
    at_ms: Type.Integer(SinceCrawl),
    elapsed_ms: Type.Integer(),
  },
  { title: 'VastWrapper' },
);

const MediaSchema = Type.Object(
  {
    url: Type.String(),
    type: Type.String(),
    outcome: Type.Enum(MEDIA_OUTCOMES),
    status_code: Type.Integer(),
    bytes: Type.Integer(),
    duration_ms: Type.Integer({ description: 'As measured.' }),
    width: Type.Integer(),
    height: Type.Integer(),
  },
  { title: 'VastMedia' },
);

const AdSchema = Type.Object(
  {
    id: Type.String(),
    sequence: orNull(Type.Integer()),
    title: Type.String(),
    advertiser: Type.String(),
    shown: Type.Enum(VAST_SHOWN),
    duration_ms: orNull(Type.Integer({ description: 'As declared.' })),
    played_ms: Type.Integer(),
    error_code: orNull(Type.Integer({ description: 'The error code that a player reports (VAST 4.3, 2.3.6.3).' })),
    wrapper_depth: Type.Integer(),
    media: Type.Array(MediaSchema),
  },
  { title: 'VastAd' },
);

const TrackerSchema = Type.Object(
  {
    ad: orNull(Type.Integer({ description: 'Index of its ad; null: its document led to no ad.' })),
    wrapper: Type.Integer({ description: 'Index of the document that declares it.' }),
    part: Type.Enum(AD_PARTS),
    event: Type.String(),
    offset: orNull(Type.String()),
    url: Type.String({ description: 'As declared.' }),
    requested_url: Type.String({ description: 'As requested, with its macros filled.' }),
    requested_at_ms: orNull(
      Type.Integer({ description: 'Milliseconds since the crawl began; null: it was not requested.' }),
    ),
    playhead_ms: orNull(Type.Integer()),
    status_code: Type.Integer({ description: '0: no response.' }),
  },
  { title: 'VastTracker' },
);

/**
 * The result of a VAST tag: its documents from the tag through its wrappers, its ads in the order of playing, its
 * trackers.
 */
export const VastOutSchema = Type.Object(
  {
    wrappers: Type.Array(WrapperSchema),
    wrappers_left_out: Type.Integer({ description: 'How many more documents there are: the first 25 are listed.' }),
    ads: Type.Array(AdSchema),
    companions: Type.Array(
      Type.Object(
        { place: Type.Integer({ description: 'Of all companions, from 0.' }), screenshot_url: Type.String() },
        { title: 'VastCompanion' },
      ),
      { description: 'The companions that were shown and have a screenshot.' },
    ),
    ads_left_out: Type.Integer({
      description: 'How many more the documents have: 10 of a pod are followed, and 50 of a document are read.',
    }),
    trackers: Type.Array(TrackerSchema, {
      description: 'Trackers of the resolved documents, declared against fired: the first 500 of them.',
    }),
    trackers_left_out: Type.Integer({
      description: 'How many more the documents declare. Beyond 2,000 in all, they are not requested either.',
    }),
  },
  { title: 'Vast' },
);
