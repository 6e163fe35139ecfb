import type { Scenario } from './scenario.ts';

/** The farm has more slots than the control plane can follow: what comes after the crawl has a backlog, and must share by organization too. */
export const scenario: Scenario = {
  what: '256 slots, more than one control plane follows. One organization asks for as much as it can analyse, and more; another one for little.',
  minutes: 2,
  tenants: {
    greedy: {
      scansPerSecond: [
        [0, 0],
        [0.15, 60],
        [0.75, 0],
      ],
    },
    modest: { scansPerSecond: [[0, 1]] },
  },
  nodes: [[0, 64]],
  slots: 4,
  captureSeconds: [1, 3],
  leaves: 'drained',
  endpoints: 1,
  secondsMax: { modest: 10 },
};
