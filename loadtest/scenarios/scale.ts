import type { Scenario } from './scenario.ts';

/** 1 -> 4 -> 1 nodes under load; nodes that go are drained. */
export const scenario: Scenario = {
  what: 'One node is not enough, four are, and then one again for what is left of the load.',
  minutes: 3,
  tenants: {
    client: {
      scansPerSecond: [
        [0, 3],
        [0.6, 1],
      ],
    },
  },
  nodes: [
    [0, 1],
    [0.2, 4],
    [0.65, 1],
  ],
  slots: 4,
  captureSeconds: [1, 3],
  leaves: 'drained',
  endpoints: 1,
  secondsMax: { client: 40 },
};
