import type { VastCompanionAds, VastDisplay } from '@adsweep/shared/vast/vast-document.ts';

/** An ad is not shown without the companions that it requires (VAST 4.3, 2.3.6.3). */
export const REQUIRED_COMPANION_MISSING = 602;

/** Whether an ad may be shown where these of its companions can be (VAST 4.3, 3.13). Pure. */
export function hasRequired(
  { required, companions }: VastCompanionAds,
  isShown: (companion: VastDisplay) => boolean,
): boolean {
  if (required === 'all') return companions.every(isShown);
  return required !== 'any' || companions.length === 0 || companions.some(isShown);
}
