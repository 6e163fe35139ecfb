import type { Logger } from './logger.ts';
import { withDeadline } from './with-deadline.ts';

/** The parts of a service to stop, by name, in order. */
export type Stop = [name: string, stop: () => Promise<void> | void];

/**
 * Stops the process on SIGINT, SIGTERM, or when the parent that spawned it with an IPC channel has ended: each part in
 * order, none longer than `partMs` milliseconds; then the process exits 0, or 1 when a part failed. `hurry` is called
 * on a second signal.
 */
export function stopOnSignal(
  logger: Logger,
  stops: () => Stop[],
  partMs = 4_000,
  hurry: () => void = () => undefined,
): void {
  let stopping = false;
  const stop = async (reason: string) => {
    if (stopping) {
      logger.info({ reason }, 'stopping without further delay');
      return hurry();
    }
    stopping = true;
    logger.info({ reason }, 'stopping');
    const failed = await stopInOrder(logger, stops(), partMs);
    logger.info({ reason }, 'stopped');
    process.exit(failed ? 1 : 0);
  };
  process.on('SIGINT', () => void stop('SIGINT'));
  process.on('SIGTERM', () => void stop('SIGTERM'));
  if (process.channel) process.on('disconnect', () => void stop('the parent process is gone'));
}

async function stopInOrder(logger: Logger, stops: Stop[], partMs: number): Promise<boolean> {
  let failed = false;
  for (const [part, stop] of stops) {
    try {
      await withDeadline(stop(), partMs, `stopping ${part}`);
    } catch (cause) {
      failed = true;
      logger.error({ part, cause }, 'a part did not stop');
    }
  }
  return failed;
}
