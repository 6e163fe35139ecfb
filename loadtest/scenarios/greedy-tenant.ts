import type { Scenario } from './scenario.ts';

/** One organization asks for more than the farm can do; another one must not notice. */
export const scenario: Scenario = {
  what: 'One organization asks for twice what all slots can do, from the first quarter to the third; another one for little all the while.',
  minutes: 3,
  tenants: {
    greedy: {
      scansPerSecond: [
        [0, 0],
        [0.25, 16],
        [0.75, 0],
      ],
    },
    modest: { scansPerSecond: [[0, 1]] },
  },
  nodes: [[0, 4]],
  slots: 4,
  captureSeconds: [1, 3],
  leaves: 'drained',
  endpoints: 1,
  secondsMax: { modest: 7 },
};
