import type { Logger } from '@adsweep/shared/service/logger.ts';

/** Lines a minute for one route and status; more are told by their number. Metrics count them all. */
const LINES_MAX = 10;
const WINDOW_MS = 60_000;
/** Routes and statuses are closed sets; a bound all the same. */
const KINDS_MAX = 1_000;

export type Refusal = { request_id: string; method: string; route: string; status: number; ms: number };

type Window = { since: number; lines: number; left: number };

/**
 * Logs refusals (4xx) so that nobody can fill a disk with them: the first ten of a route and status a minute, and how many more there
 * were with the first line after it. `now` in ms.
 */
export function refusalLog(now: () => number = Date.now) {
  const windows = new Map<string, Window>();
  return (log: Logger, refusal: Refusal): void => {
    const kind = `${refusal.route} ${refusal.status}`;
    const window = windows.get(kind) ?? { since: now(), lines: 0, left: 0 };
    if (now() - window.since >= WINDOW_MS) {
      const { left } = window;
      if (left > 0)
        log.info({ route: refusal.route, status: refusal.status, left }, 'further refusals were not logged');
      Object.assign(window, { since: now(), lines: 0, left: 0 });
    }
    if (windows.size < KINDS_MAX) windows.set(kind, window);
    if (window.lines++ < LINES_MAX) log.info(refusal, 'refused');
    else window.left++;
  };
}
