import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CrawlQueue } from './queue.ts';

const PROMOTE_EVERY_MS = 1_000;

/** Hands delayed jobs out when they are due: nodes that wait for work need not look for them. */
export function startPromoting({ queue, logger }: { queue: Pick<CrawlQueue, 'promote'>; logger: Logger }): Loop {
  return startLoop(logger, { name: 'promoting delayed jobs', everyMs: PROMOTE_EVERY_MS, turn: () => queue.promote() });
}
