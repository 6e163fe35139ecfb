import { Type } from 'typebox';
import { Count } from '../count.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

/**
 * A tab's document at `url` led on without a click: where that ended (a URL of any scheme, '' = not known), how many ms after the
 * document had loaded (0 = before that, or by HTTP), and whether the browser refused it to a frame.
 */
export const AutoRedirectObservation = observationOf('auto_redirect', {
  to: ObservedUrl,
  after_load_ms: Count,
  refused: Type.Boolean(),
});
