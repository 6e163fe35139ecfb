import { Type } from 'typebox';
import { Count } from '../count.ts';
import { observationOf } from './observation-of.ts';

/**
 * What looks clickable on a creative was clicked, each thing once, until one opened nothing (spec 2.5). `clicked`: how many; `inert`: the one
 * that opened nothing, such as `button#next`, '' = all of them opened something.
 */
export const CreativeInteractiveObservation = observationOf('creative_interactive', {
  clicked: Count,
  inert: Type.String({ maxLength: 200 }),
});
