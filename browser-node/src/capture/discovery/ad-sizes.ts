import { adSizes, hasSizeOf } from '@adsweep/shared/ads/ad-sizes.ts';
import type { Box } from '../box.ts';

const SIZES = adSizes('common', 'rare', 'video', 'minor');
/** Borders make a slot one pixel larger on each side. */
const TOLERANCE = 2;

/** Whether a box has a usual size of ads, or nearly. */
export const isAdSize = (box: Box): boolean => hasSizeOf(SIZES, box, TOLERANCE);
