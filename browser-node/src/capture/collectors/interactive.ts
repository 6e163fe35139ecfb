import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import { INTERACTIVE_CHECK_MS, underLoad } from '../session/budgets.ts';
import type { Collector } from './collector.ts';
import { observeStopped } from './main-thread.ts';

/**
 * How long the last click of the check may take beyond its budget: it is watched for what it opens, after what looks
 * clickable was found.
 */
const LAST_CLICK_MS = 5_000;

/** Whether some buttons or links of a creative open nothing (spec 2.5); checked once its landings are captured. */
export const interactive: Collector = {
  name: 'creative_interactive',
  start:
    (capture) =>
    async (draft, { creative }, deadlineMs) => {
      const budgetMs = Math.min(underLoad(capture, INTERACTIVE_CHECK_MS), deadlineMs - LAST_CLICK_MS);
      if (creative?.checkInteractive && budgetMs <= 0) throw new DeadlineError('the check of the creative', deadlineMs);
      const busyBefore = new Set(capture.busyDocuments.keys());
      const facts = await creative?.checkInteractive?.(budgetMs);
      observeStopped(capture, draft, busyBefore);
      if (!creative || !facts || facts.clicked === 0) return;
      draft.observations.push({
        kind: 'creative_interactive',
        landing: null,
        url: creative.facts.url,
        facts,
        frameId: null,
      });
    },
};
