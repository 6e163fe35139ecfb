import type { Logger } from './logger.ts';

/** What a process says to the one that spawned it: it can work now, and where it listens. */
export type Ready = { type: 'ready'; ports: Record<string, number> };

/** Logs that the process is ready and, where a parent opened an IPC channel, tells it the ports it really has. */
export function announceReady(logger: Logger, ports: Ready['ports']): void {
  logger.info({ ports }, 'ready');
  process.send?.({ type: 'ready', ports } satisfies Ready);
}
