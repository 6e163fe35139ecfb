/** A quantity over a run: from each share of the run's time on, it has this value. The first share is 0. */
export type Steps = readonly (readonly [share: number, value: number])[];

/** What one organization does. `scansPerSecond`: single scans; `campaign`: the scans of one run of a campaign, at the beginning; 0: none. */
export type Tenant = { scansPerSecond: Steps; campaign?: number };

/** A load, and what it must not do to the farm. */
export type Scenario = {
  what: string;
  minutes: number;
  tenants: Record<string, Tenant>;
  nodes: Steps;
  /** Slots of each node. */
  slots: number;
  /** The least and most seconds of a capture by a simulated node. */
  captureSeconds: readonly [least: number, most: number];
  /** How a node goes when there are fewer. */
  leaves: 'drained' | 'killed';
  /** Webhook endpoints of each organization, each of which gets every event. */
  endpoints: number;
  /** The most seconds, at the 95th percentile, from the request for a single scan to its event at the first endpoint. */
  secondsMax: Record<string, number>;
};

/** The value of a quantity at a share of the run. Pure. */
export const valueAt = (steps: Steps, share: number): number => steps.findLast(([from]) => from <= share)?.[1] ?? 0;
