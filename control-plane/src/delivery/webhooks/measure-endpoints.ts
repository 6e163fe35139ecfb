import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { EndpointStore } from './endpoint-store.ts';

type MeasuringDependencies = {
  endpoints: Pick<EndpointStore, 'countFailing'>;
  metrics: Pick<WorkMetrics, 'failingEndpoints'>;
  logger: Logger;
};

const MEASURE_EVERY_MS = 10_000;
/** Endpoints beyond this are not counted: the number is large enough to alert, and counting is expensive. */
const COUNTED_MAX = 10_000;

/** Keeps the gauge of failing endpoints up to date. */
export function startMeasuringEndpoints({ endpoints, metrics, logger }: MeasuringDependencies): Loop {
  const step = async () => metrics.failingEndpoints.set(await endpoints.countFailing(COUNTED_MAX));
  return startLoop(logger, { name: 'measuring webhook endpoints', everyMs: MEASURE_EVERY_MS, step });
}
