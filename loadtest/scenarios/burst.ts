import type { Scenario } from './scenario.ts';

/** A burst that is worked off before the next one. */
export const scenario: Scenario = {
  what: 'Of each third of the time, the first tenth brings four times as many scans as the slots can take, and the rest few.',
  minutes: 3,
  tenants: {
    client: {
      scansPerSecond: [0, 1 / 3, 2 / 3].flatMap((from) => [[from, 32] as const, [from + 1 / 30, 1] as const]),
    },
  },
  nodes: [[0, 4]],
  slots: 4,
  captureSeconds: [1, 3],
  leaves: 'drained',
  endpoints: 1,
  // 6 s of 32 a second are 192 scans, for which slots that take 8 a second need 24 s.
  secondsMax: { client: 30 },
};
