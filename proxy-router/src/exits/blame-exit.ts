import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RouterMetrics } from '../metrics.ts';
import type { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Exit } from '../providers/exit.ts';
import type { ExitHealth, Purpose } from './exit-health.ts';

export type BlameDependencies = { health: ExitHealth; metrics: RouterMetrics; logger: Logger };

/** Counts and logs a failure that is, or may be, the exit's or its account's; returns whether it is one. */
export function blameExit(
  { health, metrics, logger }: BlameDependencies,
  exit: Exit,
  failure: ConnectionFailure,
  purpose: Purpose,
): boolean {
  if (!health.failed(exit, failure, performance.now(), purpose)) return false;
  const { outcome, message: detail } = failure;
  const { scan, node = null } = purpose;
  metrics.providerFailures.inc({ provider: exit.provider, outcome });
  logger.warn(
    { exit_id: exit.id, outcome, detail, scan_id: scan, ...(node !== null && { node_id: node }) },
    'an exit failed',
  );
  return true;
}
