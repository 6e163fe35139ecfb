import { AD_SERVER_CREATIVES } from './ad-server-creatives.ts';
import { ADDRESS_CREATIVES } from './address-creatives.ts';
import { CLICK_CREATIVES } from './click-creatives.ts';
import type { Creative } from './creative.ts';
import { FRAME_CREATIVES } from './frame-creatives.ts';
import { HTML5_CREATIVES } from './html5-creatives.ts';
import { LINK_CREATIVES } from './link-creatives.ts';
import { LOADER_CREATIVES } from './loader-creatives.ts';
import { MRAID_CREATIVES } from './mraid-creatives.ts';
import { ODD_CREATIVES } from './odd-creatives.ts';
import { RICH_CREATIVES } from './rich-creatives.ts';
import { SCRIPT_CREATIVES } from './script-creatives.ts';
import { SHADOW_CREATIVES } from './shadow-creatives.ts';

/** `inCorpusOnly`: the tests capture those alone that ask for it. */
type CreativeGroup = { name: string; creatives: readonly Creative[]; inCorpusOnly?: boolean };

/** Every way of rendering a creative and of leading on from it that is named in the field, by what they have in common. */
export const CREATIVE_GROUPS: readonly CreativeGroup[] = [
  { name: 'links', creatives: LINK_CREATIVES },
  { name: 'frames', creatives: FRAME_CREATIVES },
  { name: 'scripts', creatives: SCRIPT_CREATIVES },
  { name: 'shadow_roots', creatives: SHADOW_CREATIVES },
  { name: 'loaders', creatives: LOADER_CREATIVES },
  { name: 'mraid', creatives: MRAID_CREATIVES },
  { name: 'rich_media', creatives: RICH_CREATIVES },
  { name: 'addresses', creatives: ADDRESS_CREATIVES },
  { name: 'ad_servers', creatives: AD_SERVER_CREATIVES, inCorpusOnly: true },
  { name: 'html5', creatives: HTML5_CREATIVES, inCorpusOnly: true },
  { name: 'clicks', creatives: CLICK_CREATIVES, inCorpusOnly: true },
  { name: 'odd', creatives: ODD_CREATIVES, inCorpusOnly: true },
];

/** Those that each run of the tests captures. */
export const TESTED_CREATIVES: readonly Creative[] = CREATIVE_GROUPS.flatMap(({ creatives, inCorpusOnly }) =>
  creatives.filter(({ isTested }) => isTested || !inCorpusOnly),
);
