import { Type } from 'typebox';
import { observationOf } from './observation-of.ts';

/** A box that is shown and was ticked before the visitor did anything, by what it says. */
export const PreselectedObservation = observationOf('preselected', { label: Type.String({ maxLength: 300 }) });
