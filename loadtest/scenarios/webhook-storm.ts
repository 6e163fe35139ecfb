import type { Scenario } from './scenario.ts';

/** Many endpoints, each of which gets every event. */
export const scenario: Scenario = {
  what: 'Each completed scan is sent to 20 endpoints.',
  minutes: 3,
  tenants: { client: { scansPerSecond: [[0, 5]] } },
  nodes: [[0, 4]],
  slots: 4,
  captureSeconds: [1, 2],
  leaves: 'drained',
  endpoints: 20,
  secondsMax: { client: 8 },
};
