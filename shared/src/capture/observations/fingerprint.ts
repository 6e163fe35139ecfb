import { Count } from '../count.ts';
import { observationOf } from './observation-of.ts';

/**
 * How often a tab's documents asked, without a click, for what tells browsers apart: pictures of text on a canvas that were read back,
 * short sounds that were computed and not played, font families that were tried one by one. Each counts up to the next lower power of two.
 */
export const FingerprintObservation = observationOf('fingerprint', {
  canvas_reads: Count,
  audio_renders: Count,
  fonts: Count,
});
