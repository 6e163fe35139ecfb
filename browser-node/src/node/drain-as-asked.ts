import type { Registered } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { LeaseLoop } from '../lease/lease-loop.ts';

/**
 * How a node reacts to the answer to its heartbeat: it drains while the operator wants it to, and works again after that. A drained
 * node keeps sending heartbeats until it is stopped.
 */
export function drainAsAsked(
  loop: Pick<LeaseLoop, 'drain' | 'undrain'>,
  graceMs: number,
  logger: Logger,
): (answer: Registered) => void {
  let isAsked = false;
  return ({ drain = false }) => {
    if (drain === isAsked) return;
    isAsked = drain;
    if (!drain) {
      logger.info('the operator lets the node work again');
      return loop.undrain();
    }
    logger.info({ grace_ms: graceMs }, 'the operator drains the node: it takes no more work');
    void loop.drain(graceMs);
  };
}
