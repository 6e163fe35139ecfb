import { Type } from 'typebox';
import { observationOf } from './observation-of.ts';

/** What a page can demand of a visitor's device, or do to its clipboard, by one call. */
export const DEMANDS = [
  'vibration',
  'notifications',
  'push',
  'fullscreen',
  'clipboard_read',
  'clipboard_write',
] as const;
export type Demand = (typeof DEMANDS)[number];

/** When it was demanded: by itself, or from a click on a place that has nothing to click. */
const TRIGGERS = ['none', 'click_anywhere'] as const;

/** A page demanded something that a visitor is to ask for, whether or not the browser let it. Once for each demand of a tab. */
export const UnpromptedCallObservation = observationOf('unprompted_call', {
  demand: Type.Enum(DEMANDS),
  trigger: Type.Enum(TRIGGERS),
});
