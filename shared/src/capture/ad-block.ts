import { type Static, Type } from 'typebox';
import { DISCOVERED_ADS_MAX } from '../limits.ts';
import { OPEN } from './fields.ts';

/** The formats of the ads on a page (spec 2.1); `pop`: a window that opened without a click, or a tab-under. */
export const AD_KINDS = ['banner', 'video', 'pop'] as const;
export type AdKind = (typeof AD_KINDS)[number];

/** The signals by which a block of a page was recognized as an ad. */
export const AD_SIGNALS = [
  'ad_server_frame',
  'ad_server_request',
  'google_publisher_tag',
  'adsense',
  'prebid',
  'amazon',
  'safeframe',
  'native_widget',
  'video_ad_request',
  'ad_size',
  'ad_label',
  'opened_window',
  'tab_under',
] as const;
export type AdSignal = (typeof AD_SIGNALS)[number];

/** Ad blocks that a sweep lists at most; further ones are left out, with a note. */
export const AD_BLOCKS_MAX = 100;

const Pixels = Type.Integer({ minimum: -10_000_000, maximum: 10_000_000 });

/**
 * An ad on a page. `slot_index` counts from 0: pops first, in the order in which they opened, then the others in the
 * order of the page. `x`, `y`, `width` and `height` in CSS pixels of the page, at first sight; all 0 for a pop.
 * `network_host` is '' for a pop, both are '' where none is known. `identity`: 128 bits in hexadecimal, the same for
 * the same ad block when the page is loaded again.
 */
export const AdBlockSchema = Type.Object(
  {
    identity: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    slot_index: Type.Integer({ minimum: 0, maximum: AD_BLOCKS_MAX - 1 }),
    ad_kind: Type.Enum(AD_KINDS),
    network: Type.String({ maxLength: 200 }),
    network_host: Type.String({ maxLength: 253 }),
    x: Pixels,
    y: Pixels,
    width: Pixels,
    height: Pixels,
    signals: Type.Array(Type.Enum(AD_SIGNALS), { maxItems: AD_SIGNALS.length }),
  },
  OPEN,
);
export type AdBlock = Static<typeof AdBlockSchema>;

/** The ad network of an ad on a page. A pop has no ad server that could be seen (spec 2.1, rule 2). Pure. */
export const networkOfBlock = ({ ad_kind, network, network_host }: AdBlock) => ({
  network,
  network_host: ad_kind === 'pop' ? '' : network_host,
});

/**
 * Why an ad block has no scan: `cap`, it is beyond what the sweep may scan; `quota`, the organization may make no more
 * checks.
 */
export const NOT_SCANNED = ['cap', 'quota'] as const;

/** An ad block in the capture of its sweep; `not_scanned` null: it has a scan of its own. */
export const ListedAdBlockSchema = Type.Object(
  { ...AdBlockSchema.properties, not_scanned: Type.Union([Type.Enum(NOT_SCANNED), Type.Null()]) },
  OPEN,
);
export type ListedAdBlock = Static<typeof ListedAdBlockSchema>;

/** What a sweep looks for: the formats to be scanned, and how many ads at most. */
export const DiscoverySchema = Type.Object({
  ad_formats: Type.Array(Type.Enum(AD_KINDS), { minItems: 1 }),
  max_ads: Type.Integer({ minimum: 1, maximum: DISCOVERED_ADS_MAX }),
});
export type Discovery = Static<typeof DiscoverySchema>;
