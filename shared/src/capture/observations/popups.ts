import { Type } from 'typebox';
import { Count } from '../count.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

/** The most URLs of windows that are kept. */
export const POPUP_URLS_MAX = 5;

/**
 * Windows that a tab opened or tried to open: how many by itself and by the click that opened the most, how many of them without a click, and
 * where the first ones led.
 */
export const PopupsObservation = observationOf('popups', {
  windows: Count,
  without_gesture: Count,
  urls: Type.Array(ObservedUrl, { maxItems: POPUP_URLS_MAX }),
});
