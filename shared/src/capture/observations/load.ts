import { Type } from 'typebox';
import { Count } from '../fields.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

/**
 * How busy the main thread of a tab, or of a cross-site frame in it, was after load: the share of the time (0 to 1) it
 * would have been busy on a machine of its own, over so many ms. Recorded above a threshold only.
 */
export const MainThreadObservation = observationOf('main_thread', {
  busy_share: Type.Number({ minimum: 0, maximum: 1 }),
  over_ms: Count,
});

/**
 * How busy the workers of a tab were that has a WebSocket or whose workers compute: their number, the share of the time
 * that the busiest ran script (0 to 1), over so many ms, and the URL of the first socket, '' = there is none.
 */
export const WorkerLoadObservation = observationOf('worker_load', {
  workers: Count,
  busy_share: Type.Number({ minimum: 0, maximum: 1 }),
  over_ms: Count,
  socket_url: ObservedUrl,
});

/** A tab whose scripts were stopped because it started more than `children_max` frames and workers. */
export const ChildFloodObservation = observationOf('child_flood', { children_max: Count });

/**
 * What a frame and the frames in it loaded over the network, in bytes as they were sent, and its size in CSS pixels (0
 * = not known). `url` is the frame's. Recorded above a threshold only.
 */
export const FrameWeightObservation = observationOf('frame_weight', { bytes: Count, width: Count, height: Count });

/**
 * How often a tab's documents used a fingerprinting technique without a click: canvases with text that were read back,
 * offline audio renderings, and font families that were probed one by one. Each is rounded down to a power of two.
 */
export const FingerprintObservation = observationOf('fingerprint', {
  canvas_reads: Count,
  audio_renders: Count,
  fonts: Count,
});
