import { Type } from 'typebox';
import { Count } from '../count.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

/**
 * Entries that the page and its frames added to the history without a click: their number, how many of them show the same URL as before,
 * whether a script listens for Back, and where going Back led ('' = not tried, or nowhere new).
 */
export const BackButtonObservation = observationOf('back_button', {
  pushes: Count,
  copies: Count,
  popstate_listener: Type.Boolean(),
  probe_url: ObservedUrl,
});
