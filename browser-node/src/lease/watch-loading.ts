import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { isRetryable } from '../upload/retry-call.ts';

const ASK_EVERY_MS = 2_000;

/**
 * `traffic`: what the gateway carried for the attempt; `report` reports to the control plane that the target was
 * requested.
 */
export type Loading = {
  traffic: () => Promise<Pick<TicketTraffic, 'bytes_sent'> | null>;
  report: () => Promise<void>;
  everyMs?: number;
};

/**
 * Reports once, while a capture runs, that a request to its target was sent. If the node stops or is lost before it can
 * report a result, the control plane then knows what the attempt has done. Returns the function that ends the watch.
 */
export function watchLoading({ traffic, report, everyMs = ASK_EVERY_MS }: Loading, logger: Logger): () => void {
  let isAsking = false;
  const ask = async () => {
    const carried = await traffic();
    if (!carried || carried.bytes_sent === 0) return;
    await report();
    clearInterval(timer);
  };
  const step = async () => {
    if (isAsking) return;
    isAsking = true;
    await ask().catch((cause: unknown) => {
      // A control plane of an earlier version does not know the call; one that cannot be reached, or cannot serve it
      // now, gets the report with the next step.
      if (!isRetryable(cause)) clearInterval(timer);
      logger.debug({ cause }, 'it could not be reported that a target was requested');
    });
    isAsking = false;
  };
  const timer = setInterval(() => void step(), everyMs);
  return () => clearInterval(timer);
}
