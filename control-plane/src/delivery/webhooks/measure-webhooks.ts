import { DAY_MS, HOUR_MS, MINUTE_MS } from '@adsweep/shared/durations.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { EndpointStore } from './endpoint-store.ts';

type MeasuringParts = {
  endpoints: Pick<EndpointStore, 'countFailing'>;
  deliveries: Pick<DeliveryStore, 'countWaiting'>;
  metrics: Pick<WorkMetrics, 'failingEndpoints' | 'webhookBacklog'>;
  logger: Logger;
};

const MEASURE_EVERY_MS = 10_000;
/** What is beyond this is not counted: the number is large enough to alert, and counting is expensive. */
const COUNTED_MAX = 10_000;

/** The upper ends of the ages by which waiting deliveries are counted, in ms. */
const AGES = { '1m': MINUTE_MS, '1h': HOUR_MS, '6h': 6 * HOUR_MS, '24h': DAY_MS } as const;

/** Keeps the gauges of failing endpoints and of waiting deliveries up to date. */
export function startMeasuringWebhooks(parts: MeasuringParts): Loop {
  const step = () => measureWebhooks(parts, new Date());
  return startLoop(parts.logger, { name: 'measuring webhooks', everyMs: MEASURE_EVERY_MS, step });
}

/** Sets the gauges once. */
export async function measureWebhooks(
  { endpoints, deliveries, metrics }: Omit<MeasuringParts, 'logger'>,
  now: Date,
): Promise<void> {
  metrics.failingEndpoints.set(await endpoints.countFailing(COUNTED_MAX));
  // A delivery that was queued by a clock that is ahead is young.
  let until = new Date(now.getTime() + HOUR_MS);
  for (const [age, ms] of Object.entries(AGES)) {
    const from = new Date(now.getTime() - ms);
    metrics.webhookBacklog.set({ age }, await deliveries.countWaiting([from, until], COUNTED_MAX));
    until = from;
  }
}
