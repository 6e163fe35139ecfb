import { Type } from 'typebox';
import { observationOf } from './observation-of.ts';

/** What a page can request of a visitor's device, or do to its clipboard, with one call. */
export const DEMANDS = [
  'vibration',
  'notifications',
  'push',
  'fullscreen',
  'clipboard_read',
  'clipboard_write',
] as const;
export type Demand = (typeof DEMANDS)[number];

/** When it was requested: by itself, or from a click on a place that has nothing to click. */
const TRIGGERS = ['none', 'click_anywhere'] as const;

/** A page requested something without being asked by its visitor, whether or not the browser allowed it. Once per tab and kind. */
export const UnpromptedCallObservation = observationOf('unprompted_call', {
  demand: Type.Enum(DEMANDS),
  trigger: Type.Enum(TRIGGERS),
});
