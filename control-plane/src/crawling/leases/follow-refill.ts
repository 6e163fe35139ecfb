import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';

const TELL_EVERY_MS = 5_000;

/** Tells how far a refill of the whole queue is: in a gauge, and in the log every five seconds and when it put something back. */
export function followRefill(
  { metrics, logger }: { metrics: Pick<WorkMetrics, 'refillRemaining'>; logger: Logger },
  total: number,
) {
  let [lookedAt, queued] = [0, 0];
  const isSlow = () => performance.now() - began >= TELL_EVERY_MS;
  const began = performance.now();
  let told = began;
  metrics.refillRemaining.set(total);
  return {
    add(page: { looked: number; queued: number }): void {
      lookedAt += page.looked;
      queued += page.queued;
      metrics.refillRemaining.set(Math.max(0, total - lookedAt));
      if (performance.now() - told < TELL_EVERY_MS) return;
      told = performance.now();
      logger.info({ scans: lookedAt, of: total, queued }, 'the queue is being refilled');
    },

    end(): void {
      metrics.refillRemaining.set(0);
      if (queued > 0 || isSlow()) logger.info({ scans: lookedAt, of: total, queued }, 'the queue was refilled');
    },
  };
}
