import { Type } from 'typebox';
import { Count } from '../count.ts';
import { observationOf } from './observation-of.ts';

/**
 * How busy the main thread of a tab, or of a frame of another site in it, was after load: the share of the time it would have had
 * work on a machine of its own (0 to 1), over so many ms. Only what was conspicuous is told.
 */
export const MainThreadObservation = observationOf('main_thread', {
  busy_share: Type.Number({ minimum: 0, maximum: 1 }),
  over_ms: Count,
});
