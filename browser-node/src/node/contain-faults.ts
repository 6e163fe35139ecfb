import type { Logger } from '@adsweep/shared/service/logger.ts';

/** The used part of `process`. */
type FaultSource = {
  on(
    event: 'uncaughtException',
    listener: (error: unknown, origin: 'uncaughtException' | 'unhandledRejection') => void,
  ): unknown;
  exit(code: number): void;
};

/**
 * Whether an error was thrown by Playwright's own code: the innermost frame of its stack that is not Node.js itself is
 * in playwright-core. Pure.
 */
function isPlaywrightFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && !/\(?node:/.test(line));
  return /[\\/]playwright-core[\\/]/.test(frames[0] ?? '');
}

/**
 * Keeps the node running for its other captures when a fault of one has no caller that could catch it. Where Playwright
 * throws, as it does for unexpected messages, all browsers end, and their captures run again in browsers of their own. A
 * promise that rejects before anything waits for it leaves nothing half done: it is logged, as a fault of ours. Every
 * other uncaught error ends the process with exit code 1, as it does by default.
 */
export function containFaults(source: FaultSource, endBrowsers: () => void, logger: Logger): void {
  source.on('uncaughtException', (cause, origin) => {
    if (origin === 'unhandledRejection') {
      logger.error({ cause }, 'a promise rejected and nothing waited for it');
      return;
    }
    if (isPlaywrightFault(cause)) {
      logger.error({ cause }, 'Playwright threw an uncaught error: all browsers are ended');
      endBrowsers();
      return;
    }
    logger.fatal({ cause }, 'an uncaught error ends the node');
    source.exit(1);
  });
}
