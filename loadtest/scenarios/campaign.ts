import type { Scenario } from './scenario.ts';

/** A campaign of 10,000 scans beside single scans of another organization. */
export const scenario: Scenario = {
  what: 'One organization runs a campaign of 10,000 scans on 6 nodes of 8 slots; another one scans single pages all the while.',
  minutes: 12,
  tenants: {
    campaign: { scansPerSecond: [[0, 0]], campaign: 10_000 },
    single: { scansPerSecond: [[0, 1]] },
  },
  // 16 scans a second: ten and a half minutes.
  nodes: [[0, 6]],
  slots: 8,
  captureSeconds: [2, 4],
  leaves: 'drained',
  endpoints: 1,
  secondsMax: { single: 10 },
};
