import { ADDRESS_CREATIVES } from './address-creatives.ts';
import type { Creative } from './creative.ts';
import { FRAME_CREATIVES } from './frame-creatives.ts';
import { LINK_CREATIVES } from './link-creatives.ts';
import { LOADER_CREATIVES } from './loader-creatives.ts';
import { MRAID_CREATIVES } from './mraid-creatives.ts';
import { RICH_CREATIVES } from './rich-creatives.ts';
import { SCRIPT_CREATIVES } from './script-creatives.ts';
import { SHADOW_CREATIVES } from './shadow-creatives.ts';

/** Every way of rendering a creative and of leading on from it that is named in the field, by what they have in common. */
export const CREATIVE_GROUPS: readonly { name: string; creatives: readonly Creative[] }[] = [
  { name: 'links', creatives: LINK_CREATIVES },
  { name: 'frames', creatives: FRAME_CREATIVES },
  { name: 'scripts', creatives: SCRIPT_CREATIVES },
  { name: 'shadow_roots', creatives: SHADOW_CREATIVES },
  { name: 'loaders', creatives: LOADER_CREATIVES },
  { name: 'mraid', creatives: MRAID_CREATIVES },
  { name: 'rich_media', creatives: RICH_CREATIVES },
  { name: 'addresses', creatives: ADDRESS_CREATIVES },
];
