import { Count } from '../count.ts';
import { observationOf } from './observation-of.ts';

/**
 * What a frame and the frames in it loaded over the network, in bytes as they were sent, and its size in CSS pixels (0 = not known).
 * `url` is the frame's. Only what was conspicuous is told.
 */
export const FrameWeightObservation = observationOf('frame_weight', { bytes: Count, width: Count, height: Count });
