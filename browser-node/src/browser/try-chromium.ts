import type { Logger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import type { Chromium } from './chromium-path.ts';
import { startProblem } from './chromium-start-problem.ts';
import { LiveBrowser } from './live-browser.ts';

/**
 * Starts and ends Chromium once, so that a machine that cannot run it is detected at the start and not at each scan. Throws
 * OperatorError with one sentence: why, and what to type.
 */
export async function tryChromium(chromium: Chromium, logger: Logger): Promise<void> {
  try {
    const browser = await LiveBrowser.launch(chromium, logger);
    await browser.kill();
  } catch (error) {
    throw new OperatorError(startProblem(chromium, error as Error), { cause: error });
  }
}
