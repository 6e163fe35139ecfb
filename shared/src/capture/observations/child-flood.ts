import { Count } from '../count.ts';
import { observationOf } from './observation-of.ts';

/** A tab whose scripts were stopped because it started more than `children_max` frames and workers. */
export const ChildFloodObservation = observationOf('child_flood', { children_max: Count });
