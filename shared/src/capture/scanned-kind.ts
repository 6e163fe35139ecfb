import type { TargetKind } from '../scan/target.ts';
import type { AdBlock, AdKind } from './ad-block.ts';

/** What is scanned: a target of this kind, or an ad of this format that a sweep found on its page. */
export type ScannedKind = TargetKind | AdKind;

/** A scan or a member of a crawl job. `ad_block`: the ad that it is the scan of; its target is the page with the ad. */
type Scanned = { target: { kind: TargetKind }; ad_block?: Pick<AdBlock, 'ad_kind'> };

/** The kind of what is scanned. Pure. */
export const scannedKind = ({ target, ad_block }: Scanned): ScannedKind => ad_block?.ad_kind ?? target.kind;

/**
 * Whether a scan shows an ad apart from its landings. A page does not, and neither does a pop: that is a tab, which is
 * a landing itself. Pure.
 */
export const showsCreative = (scan: Scanned): boolean => !['url', 'pop'].includes(scannedKind(scan));
