import { INTERACTIVE_CHECK_MS, underLoad } from '../session/budgets.ts';
import type { Collector } from './collector.ts';
import { observeStopped } from './main-thread.ts';

/** Whether some buttons or links of a creative open nothing (spec 2.5); checked once its landings are captured. */
export const interactive: Collector = {
  name: 'creative_interactive',
  start:
    (capture) =>
    async (draft, { creative }) => {
      const busyBefore = new Set(capture.busyDocuments.keys());
      const facts = await creative?.checkInteractive?.(underLoad(capture, INTERACTIVE_CHECK_MS));
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
