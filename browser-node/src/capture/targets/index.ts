import type { TargetKind } from '@adsweep/shared/scan/target.ts';
import { adTag } from './ad-tag.ts';
import type { CaptureTarget } from './target.ts';
import { url } from './url.ts';
import { vastTag } from './vast-tag.ts';

/** How each kind of target is captured. */
export const targets: Record<TargetKind, CaptureTarget> = { url, ad_tag: adTag, vast_tag: vastTag };
