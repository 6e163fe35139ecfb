import type { Scenario } from './scenario.ts';

/** Pages that hold a slot for long. */
export const scenario: Scenario = {
  what: 'Captures take 20 to 40 s, and keep two thirds of the slots busy.',
  minutes: 4,
  tenants: { client: { scansPerSecond: [[0, 1.4]] } },
  nodes: [[0, 8]],
  slots: 8,
  captureSeconds: [20, 40],
  leaves: 'drained',
  endpoints: 1,
  secondsMax: { client: 50 },
};
