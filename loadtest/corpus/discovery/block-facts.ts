import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { ExpectedAd, PublisherPage } from './publisher-page.ts';

/** Where something is shown, in CSS pixels of the page. */
export type Box = { x: number; y: number; width: number; height: number };
/** What a scan found of an ad; `landing`: the registrable domain that its click led to, absent: it was not clicked. */
export type FoundBlock = Pick<AdBlock, 'slot_index' | 'ad_kind' | 'network' | 'network_host' | keyof Box> & {
  landing?: string;
};

/** Pixels by which a side may differ. */
const TOLERANCE_PX = 4;
/** How many ads are scanned where the request does not say. */
const DEFAULT_MAX = 12;
/** A block that covers this share of an ad, and is covered by it, is that ad. */
const OVERLAP_MIN = 0.3;

/** Kind, order, place, network and landing of all expected ads, as facts. `hasLandings`: the ads are clicked. Pure. */
export const expectedFacts = ({ ads, maxAds = DEFAULT_MAX }: PublisherPage, hasLandings: boolean): string[] =>
  ads.flatMap((ad, at) => [
    `${at} found`,
    `${at} ${ad.kind}`,
    `${at} in order`,
    ...(ad.kind === 'pop' ? [] : [`${at} in place`]),
    `${at} network ${ad.network || '-'}`,
    `${at} host ${ad.hosts[0] ?? '-'}`,
    ...(hasLandings ? [`${at} leads to ${at < maxAds ? ad.landing : 'nothing, cap'}`] : []),
  ]);

/** The facts of found blocks, in the words of {@link expectedFacts}. `boxes`: the places of the expected ads, null for pops. Pure. */
export function foundFacts(ads: ExpectedAd[], boxes: (Box | null)[], found: FoundBlock[]): string[] {
  const left = new Set(found);
  const facts = ads.flatMap((ad, at) => {
    const box = boxes[at] ?? null;
    const block = bestOf([...left], ad, box);
    if (!block) return [];
    left.delete(block);
    const host = block.network_host === '' && ad.hosts.length === 0 ? '-' : block.network_host;
    const isHost = ad.hosts.includes(host);
    return [
      `${at} found`,
      `${at} ${block.ad_kind}`,
      block.slot_index === at ? `${at} in order` : `${at} at index ${block.slot_index}`,
      ...(box ? [isNear(box, block) ? `${at} in place` : `${at} at ${words(block)}, not ${words(box)}`] : []),
      `${at} network ${block.network || '-'}`,
      `${at} host ${isHost ? ad.hosts[0] : host || 'missing'}`,
      ...(block.landing === undefined ? [] : [`${at} leads to ${block.landing}`]),
    ];
  });
  return [...facts, ...[...left].map((one) => `no ad: ${one.ad_kind} at ${words(one)} of ${one.network_host || '-'}`)];
}

function bestOf(blocks: FoundBlock[], ad: ExpectedAd, box: Box | null): FoundBlock | undefined {
  if (ad.kind === 'pop' || !box) return blocks.find(({ ad_kind }) => ad_kind === 'pop');
  const rated = blocks
    .filter(({ ad_kind }) => ad_kind !== 'pop')
    .map((block) => ({ block, overlap: overlapOf(box, block) }))
    .sort((a, b) => b.overlap - a.overlap);
  return rated[0] && rated[0].overlap >= OVERLAP_MIN ? rated[0].block : undefined;
}

/** The area that two boxes share, as a share of the area that either covers. */
function overlapOf(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  const shared = Math.max(width, 0) * Math.max(height, 0);
  return shared / (a.width * a.height + b.width * b.height - shared || 1);
}

const SIDES = ['x', 'y', 'width', 'height'] as const;
const isNear = (a: Box, b: Box): boolean => SIDES.every((side) => Math.abs(a[side] - b[side]) <= TOLERANCE_PX);
const words = ({ x, y, width, height }: Box): string => `${x},${y} ${width}x${height}`;
