import { AD_KINDS, AD_SIGNALS, NOT_SCANNED } from '@adsweep/shared/capture/ad-block.ts';
import { HOP_KINDS } from '@adsweep/shared/capture/hop.ts';
import { SCAN_STATUSES } from '@adsweep/shared/scan/scan-status.ts';
import { PROXY_TYPES } from '@adsweep/shared/targeting/catalogue.ts';
import { type Static, Type } from 'typebox';
import { moment, orNull } from '../../../http/route.ts';
import { SEVERITIES } from '../../../reference/tags/system-tag.ts';
import { VastOutSchema, VideoSchema } from './vast-responses.ts';

const StringOrNull = orNull(Type.String());

const AdKind = Type.Enum(AD_KINDS);
const Labels = Type.Record(Type.String(), Type.String(), { description: 'Those of a finished scan; empty before.' });

const tiers = { tier1: Type.String(), tier2: StringOrNull, tier3: StringOrNull, tier4: StringOrNull };
const TiersSchema = Type.Object(tiers, { title: 'Tiers' });
const IabTiersSchema = Type.Object(
  { id: Type.String({ description: 'The unique id in the IAB Content Taxonomy 3.0.' }), ...tiers },
  { title: 'IabTiers' },
);

const ScanTaxonomySchema = Type.Object(
  {
    taxonomy_id: Type.String(),
    taxonomy_name: Type.String(),
    taxonomy_slug: Type.String(),
    taxonomy_version: Type.Integer(),
    leaf_node_id: StringOrNull,
    tier1: StringOrNull,
    tier2: StringOrNull,
    tier3: StringOrNull,
    tier4: StringOrNull,
    used_default: Type.Boolean({ description: 'No other node fitted.' }),
  },
  { title: 'ScanTaxonomy' },
);

const ClassificationSchema = Type.Object(
  {
    brand: StringOrNull,
    ai_category: orNull(TiersSchema),
    iab_v3: orNull(IabTiersSchema),
    custom_taxonomies: Type.Array(ScanTaxonomySchema),
  },
  { title: 'Classification' },
);

const request = {
  url: Type.String(),
  status_code: Type.Integer({ description: '0: no response.' }),
  content_type: Type.String(),
  body_size: Type.Integer({ description: 'Bytes.' }),
  timestamp_ms: Type.Integer({ description: 'Since the crawl began.' }),
};

const SubRequestSchema = Type.Cyclic(
  {
    SubRequest: Type.Object({
      ...request,
      resource_type: Type.String(),
      children: Type.Array(Type.Ref('SubRequest'), { description: 'The requests that this one caused.' }),
    }),
  },
  'SubRequest',
);

const HopSchema = Type.Object(
  {
    ...request,
    kind: Type.Enum(HOP_KINDS, { description: 'The kind of navigation.' }),
    redirected_from: Type.String(),
    sub_requests: Type.Array(SubRequestSchema),
  },
  { title: 'Hop' },
);

const LeftOutSchema = Type.Object(
  {
    kind: Type.String({ description: 'Such as `picture`, `text` or `collector_timed_out`. Versions may add kinds.' }),
    landing: orNull(Type.Integer({ description: 'The `ord` of the landing; null: it concerns no landing alone.' })),
    count: Type.Integer({ description: 'How many; 0: not known, or nothing to count.' }),
    text: Type.String({ description: 'A sentence.' }),
  },
  { title: 'LeftOut' },
);

const LandingSchema = Type.Object(
  {
    ord: Type.Integer({ description: "0 is the page's own tab." }),
    opener_url: Type.String(),
    final_url: Type.String(),
    offer_url: Type.String(),
    page_title: Type.String(),
    screenshot_url: Type.String(),
    redirect_chain: Type.Array(HopSchema),
    elapsed_ms: Type.Integer(),
    created_at: moment(),
  },
  { title: 'Landing' },
);

const ProxyOutSchema = Type.Object(
  { proxy_type: Type.Enum(PROXY_TYPES), region: Type.String(), city: Type.String(), isp: Type.String() },
  { title: 'ProxyOut' },
);

const ExitSchema = Type.Object(
  {
    provider: Type.String(),
    exit_id: Type.String(),
    country_code: Type.String(),
    proxy_type: Type.String(),
    region: StringOrNull,
    city: StringOrNull,
    isp: StringOrNull,
    session: Type.String(),
    verified: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether the exit check could tell its address and country; null: exits are not checked.',
    }),
    ip: StringOrNull,
    observed_country_code: StringOrNull,
    asn: StringOrNull,
    attempts: Type.Integer(),
  },
  { title: 'Exit', description: 'The exit of the traffic; null: unknown.' },
);

const TimingSchema = Type.Object(
  { queued_ms: Type.Integer(), crawl_ms: Type.Integer(), checks_ms: Type.Integer(), total_ms: Type.Integer() },
  { title: 'Timing' },
);

const AdBlockOutSchema = Type.Object(
  {
    slot_index: Type.Integer({
      description: 'From 0: windows that opened first, then the ads in the order of the page.',
    }),
    ad_kind: AdKind,
    network: Type.String({ description: 'Empty where it cannot be named.' }),
    network_host: Type.String({ description: 'Domain of the ad server; empty for a `pop`.' }),
    x: Type.Integer({ description: 'CSS pixels of the page at first sight, as are the following; all 0 for a `pop`.' }),
    y: Type.Integer(),
    width: Type.Integer(),
    height: Type.Integer(),
    signals: Type.Array(Type.Enum(AD_SIGNALS), { description: 'What told that this is an ad. Versions may add some.' }),
    scan_id: orNull(Type.String({ description: 'The scan of this ad; null: it has none.' })),
    not_scanned: orNull(
      Type.Enum(NOT_SCANNED, {
        description: 'Why it has no scan. `cap`: it is beyond `max_discovered_ads`; `quota`: no check was left.',
      }),
    ),
  },
  { title: 'AdBlock' },
);

/** The fields of both a scan and its row in a list. */
const shared = {
  id: Type.String(),
  url: Type.String({ description: 'Empty for ad tags and VAST tags.' }),
  country_code: Type.String(),
  status: Type.Enum(SCAN_STATUSES),
  offer_url: Type.String({ description: 'The final URL of the landing.' }),
  screenshot_url: Type.String(),
  report_url: Type.String(),
  public_report_url: Type.String({ description: 'A read-only view that needs no login.' }),
  labels: Labels,
  classification: orNull(ClassificationSchema),
  elapsed_ms: Type.Integer(),
  created_at: moment(),
  campaign_id: StringOrNull,
  campaign_name: StringOrNull,
  parent_scan_id: orNull(Type.String({ description: 'The sweep that found this ad.' })),
  ad_discovery: Type.Boolean({ description: 'It sweeps its page for ads.' }),
  slot_index: orNull(Type.Integer({ description: 'The ad among those of its page, from 0.' })),
  ad_kind: orNull(AdKind),
  network: Type.String(),
  network_host: Type.String(),
  repeat_index: Type.Integer(),
  repeat_total: Type.Integer(),
  repeat_leader_id: orNull(
    Type.String({
      description:
        'The first scan of its group of repeats; null also in groups that a version before this field stored.',
    }),
  ),
  repeat_session_id: orNull(
    Type.String({ description: 'The browser that it shares with its group; null also if it ran again without them.' }),
  ),
  retry_attempt: Type.Integer(),
  retry_max_attempts: Type.Integer(),
};

export const ScanSchema = Type.Object(
  {
    ...shared,
    emulator_id: Type.String(),
    max_discovered_ads: orNull(Type.Integer({ description: 'Of a sweep; 12 where none was sent.' })),
    ad_formats: orNull(Type.Array(AdKind, { description: 'Of a sweep; null: all formats.' })),
    ad_blocks: orNull(
      Type.Array(AdBlockOutSchema, { description: 'The ads on the page of a sweep, empty before it has found them.' }),
    ),
    redirect_chain: Type.Array(HopSchema),
    ad_tag: StringOrNull,
    vast_tag: StringOrNull,
    referrer: StringOrNull,
    ignore_first_n_domains: Type.Integer(),
    creative_kind: Type.Enum(['banner', 'video']),
    creative_screenshot_url: Type.String(),
    creative_video_url: Type.String(),
    vast_xml_url: Type.String(),
    creative_html_url: Type.String(),
    creative_width: Type.Integer(),
    creative_height: Type.Integer(),
    creative_redirect_chain: Type.Array(HopSchema),
    video: orNull(VideoSchema),
    vast: orNull(VastOutSchema),
    proxy: orNull(ProxyOutSchema),
    exit: orNull(ExitSchema),
    timing: orNull(TimingSchema),
    page_title: Type.String(),
    error: Type.String({
      description:
        'Why a scan failed, such as `proxy: NODE_NOT_FOUND`, or which parts of the analysis a partial one lacks: `checks: INTERRUPTED` (all of them), `checks: back_button`, or what was not captured with the checks that rest on it: `checks: the text of landing 0 could not be read: scareware phishing_form 5 more`.',
    }),
    rules_out_of_budget: Type.Object(
      {
        total: Type.Integer({ minimum: 0 }),
        rules: Type.Array(Type.Object({ rule_id: Type.String(), rule_name: Type.String(), rule_type: Type.String() }), {
          description: 'The first 50 of them.',
        }),
      },
      {
        description:
          'Rules that found nothing before the time for the rules of a scan was spent, and had not searched everything. The scan is `partial` then.',
      },
    ),
    left_out: Type.Array(LeftOutSchema, {
      description: 'What was not captured, or was done to the pages so that they could be captured.',
    }),
    evidence_removed_at: Type.Union([moment(), Type.Null()], {
      description:
        'When its capture and files were removed, because they are kept for a shorter time; null: they were not.',
    }),
    campaign_group_id: StringOrNull,
    campaign_group_name: StringOrNull,
    completed_at: orNull(moment()),
    landings: Type.Array(LandingSchema),
    repeat_scan_ids: Type.Optional(
      Type.Array(Type.String(), { description: 'The other scans of a group of repeats, when it is created.' }),
    ),
  },
  { title: 'Scan' },
);

export const ScanBriefSchema = Type.Object(
  {
    ...shared,
    proxy_type: Type.Enum(PROXY_TYPES),
    is_ad_tag: Type.Boolean(),
    is_vast: Type.Boolean(),
    emulator_display_name: Type.String(),
    emulator_category: Type.String(),
    tags: Type.Array(
      Type.Object({ tag_slug: Type.String(), display_name: Type.String(), severity: Type.Enum(SEVERITIES) }),
      { description: 'What was found, each tag once, the most severe first.' },
    ),
  },
  { title: 'ScanBrief' },
);

const TagMatchSchema = Type.Object(
  {
    rule_id: Type.String(),
    rule_name: Type.String({ description: 'Its name at the time of the match; empty in older scans.' }),
    rule_type: Type.String(),
    place: Type.Enum(['hop', 'request', 'title', 'text', 'html', 'content'], {
      description: 'The part of the capture that matched.',
    }),
    landing: orNull(Type.Integer()),
    offset: Type.Integer({ description: 'UTF-16 units before the hit.' }),
    excerpt: Type.String({ description: 'The text around the hit, which is between « and ».' }),
    elapsed_ms: Type.Integer({ description: 'CPU time of the rule.' }),
  },
  { title: 'TagMatch' },
);

export const ScanTagSchema = Type.Object(
  {
    id: Type.String(),
    scan_id: Type.String(),
    tag_slug: Type.String(),
    detail: Type.String(),
    url: Type.String({ description: 'The URL that the tag concerns; empty: the whole scan.' }),
    surface: Type.Enum(['page', 'creative']),
    display_name: Type.String(),
    category: Type.String(),
    severity: Type.Enum(SEVERITIES),
    match: Type.Union([TagMatchSchema, Type.Null()], { description: 'Where a rule found it.' }),
    created_at: moment(),
  },
  { title: 'ScanTag' },
);

export const CancelledSchema = Type.Object(
  { cancelled_count: Type.Integer({ description: '1, or 0 if the scan was not pending.' }) },
  { title: 'Cancelled' },
);

export const RecheckSchema = Type.Object({ queued_count: Type.Integer() }, { title: 'Recheck' });

const Range = Type.Object({ min: Type.Integer(), max: Type.Integer() });

export const EstimateSchema = Type.Object(
  {
    dry_run: Type.Literal(true),
    scans: Type.Integer(),
    checks: Range,
    cost_micros: Range,
    routable: orNull(Type.Boolean({ description: 'null: not known before the crawl.' })),
    warnings: Type.Array(Type.String()),
  },
  { title: 'Estimate' },
);

export type PresentedScan = Static<typeof ScanSchema>;
export type PresentedBrief = Static<typeof ScanBriefSchema>;
export type PresentedTag = Static<typeof ScanTagSchema>;
export type PresentedLanding = Static<typeof LandingSchema>;
