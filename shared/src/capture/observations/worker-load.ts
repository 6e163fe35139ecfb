import { Type } from 'typebox';
import { Count } from '../count.ts';
import { ObservedUrl, observationOf } from './observation-of.ts';

/**
 * How busy the workers of a tab that had a WebSocket were: their number, the share of the time that the busiest ran script (0 to 1),
 * over so many ms, and where the first socket led.
 */
export const WorkerLoadObservation = observationOf('worker_load', {
  workers: Count,
  busy_share: Type.Number({ minimum: 0, maximum: 1 }),
  over_ms: Count,
  socket_url: ObservedUrl,
});
