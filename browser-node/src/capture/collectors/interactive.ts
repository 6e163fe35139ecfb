import type { Collector } from './collector.ts';

/** How long the check may click, in ms; what it may take beyond that is its last click. */
const CHECK_MS = 10_000;

/** Whether some buttons or links of a creative open nothing (spec 2.5); looked for once its landings are captured. */
export const interactive: Collector = {
  name: 'creative_interactive',
  budgetMs: CHECK_MS + 5_000,
  start: (captureSession) => async (draft) => {
    const { creative } = captureSession;
    const facts = await creative?.checkInteractive?.(CHECK_MS);
    if (!creative || !facts || facts.clicked === 0) return;
    draft.observations.push({ kind: 'creative_interactive', landing: null, url: creative.facts.url, facts });
  },
};
