import type { Scenario } from './scenario.ts';

/** Nodes that vanish without a word, and come back. */
export const scenario: Scenario = {
  what: 'Of four nodes, two are killed and replaced again and again; their scans run again elsewhere.',
  minutes: 3,
  tenants: { client: { scansPerSecond: [[0, 3]] } },
  nodes: [
    [0, 4],
    [0.2, 2],
    [0.3, 4],
    [0.45, 2],
    [0.55, 4],
    [0.7, 2],
    [0.8, 4],
  ],
  slots: 4,
  captureSeconds: [1, 3],
  leaves: 'killed',
  endpoints: 1,
  // A lost lease expires within 10 s, and the scan begins again.
  secondsMax: { client: 20 },
};
