import type { Logger } from './logger.ts';
import { rotateLogWhenAsked } from './rotate-log.ts';

/** The message of a process to its parent: it is ready, and where it listens. */
export type Ready = { type: 'ready'; ports: Record<string, number> };

/**
 * Logs that the process is ready. Where the parent opened an IPC channel, sends it the ports and rotates the log on its
 * request.
 */
export function announceReady(logger: Logger, ports: Ready['ports']): void {
  logger.info({ ports }, 'ready');
  if (process.channel) rotateLogWhenAsked(logger);
  process.send?.({ type: 'ready', ports } satisfies Ready);
}
