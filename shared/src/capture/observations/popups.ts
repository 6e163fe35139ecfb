import { Type } from 'typebox';
import { Count } from '../count.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

/** The most URLs of windows that are kept. */
export const POPUP_URLS_MAX = 5;

/** Windows that a tab opened or tried to open: how many, how many of them without a click, and where the first of those led. */
export const PopupsObservation = observationOf('popups', {
  windows: Count,
  without_gesture: Count,
  urls: Type.Array(ObservedUrl, { maxItems: POPUP_URLS_MAX }),
});
