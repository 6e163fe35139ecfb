import type { Scenario } from './scenario.ts';

/** A farm at half of what it can do. */
export const scenario: Scenario = {
  what: 'Four nodes have as many scans as keep half of their slots busy.',
  minutes: 3,
  tenants: { client: { scansPerSecond: [[0, 4]] } },
  nodes: [[0, 4]],
  slots: 4,
  captureSeconds: [1, 3],
  leaves: 'drained',
  endpoints: 1,
  secondsMax: { client: 6 },
};
