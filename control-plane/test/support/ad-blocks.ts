import { createHash } from 'node:crypto';
import type { AdBlock, ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';

/** Banners of a page as a node describes them, one for each slot (`slot_index` + 1). */
export const adBlocks = (...slots: number[]): AdBlock[] => slots.map(adBlock);

/** The same in the capture of their sweep, each with a scan. */
export const listedBlocks = (...slots: number[]): ListedAdBlock[] =>
  adBlocks(...slots).map((block) => ({ ...block, not_scanned: null }));

const adBlock = (slot: number): AdBlock => ({
  identity: createHash('md5').update(`slot ${slot}`).digest('hex'),
  slot_index: slot - 1,
  ad_kind: 'banner',
  network: 'Example Ads',
  network_host: 'ads.example',
  ...{ x: 20, y: 300 * slot, width: 300, height: 250 },
  signals: ['ad_server_frame'],
});
